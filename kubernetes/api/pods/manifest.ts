import * as z from 'zod/mini';
import { runAllSteps } from '../../../base/async/steps.ts';
import { isObject } from '../../../base/values/isObject.ts';
import type { Problem } from '../problem.ts';
import { type KindRules, readObjectInSteps } from '../readObject.ts';
import { type PodManifest, podManifestSchema } from '../schema/pod.ts';

/** A pod without unknown fields, or the problems of a value that is not a valid pod. */
export type ManifestResult =
  | { readonly pod: PodManifest; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[]; readonly metadata?: NamedMetadata };

/** Name and namespace of a pod whose manifest has problems. */
export interface NamedMetadata {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Reads a decoded value as one pod. Nulls become Go's zero values. Unknown fields are removed with a warning. A wrong
 * type or an unknown volume type is a problem, in which case unknown fields are reported as problems, too. The values
 * themselves are checked later, by `validatePod`.
 */
export const readManifest = (value: unknown): ManifestResult => runAllSteps(readManifestInSteps(value));

/** Reads a pod like `readManifest`, but in several steps, because reading a large pod takes a long time. */
export function* readManifestInSteps(value: unknown): Generator<void, ManifestResult> {
  const kindProblem = problemOfKind(value);
  if (kindProblem !== undefined) return { problems: [kindProblem] };
  const result = yield* readObjectInSteps(podManifestSchema, value, podRules);
  if ('object' in result && result.object.metadata.name !== '')
    return { pod: result.object, warnings: result.warnings };
  if ('object' in result) return { problems: [MISSING_NAME_PROBLEM, ...result.warnings] };
  const namedResult = namedSchema.safeParse(value);
  if (!namedResult.success) return { problems: result.problems };
  const { name, namespace } = namedResult.data.metadata ?? {};
  if (!name) return { problems: [MISSING_NAME_PROBLEM, ...result.problems] };
  return { problems: result.problems, metadata: namespace ? { name, namespace } : { name } };
}

/**
 * Problem reported for a manifest without a name. A node does not generate names (`tryDecodeSinglePod` in
 * `pkg/kubelet/config/common.go`).
 */
const MISSING_NAME_PROBLEM: Problem = { path: 'metadata.name', message: 'Required value' };

const nullableTextSchema = z.optional(z.nullable(z.string()));
const namedSchema = z.object({
  metadata: z.optional(z.nullable(z.object({ name: nullableTextSchema, namespace: nullableTextSchema }))),
});

/**
 * Rules for unknown fields of volumes and projected sources. An unknown field is an error if no field other than the
 * name is set, because the unknown field was meant to select the type. Otherwise a misspelt type would silently become
 * an empty directory.
 */
const podRules: KindRules = {
  unknownError: ([spec, volumes, , projected, sources, ...rest], owner, keys) => {
    const isInVolumes = spec === 'spec' && volumes === 'volumes';
    const isVolume = isInVolumes && projected === undefined;
    const isSource = isInVolumes && projected === 'projected' && sources === 'sources' && rest.length === 1;
    if (!isVolume && !isSource) return undefined;
    const knownFields = isObject(owner)
      ? Object.keys(owner).filter((key) => key !== 'name' && !keys.includes(key))
      : [];
    return knownFields.length === 0 ? 'unknown type of volume' : undefined;
  },
};

/** Returns the problem with a value that is not a pod at all, in which case the value's fields are not checked. */
function problemOfKind(value: unknown): Problem | undefined {
  if (!isObject(value) || Array.isArray(value)) return { path: '', message: 'expected one Pod' };
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'Pod' || typeof kind !== 'string') return undefined;
  return { path: 'kind', message: `expected Pod, got ${kind}` };
}
