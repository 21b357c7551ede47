import * as z from 'zod/mini';
import type { Problem } from './problem.ts';
import { type KindRules, readObject } from './readObject.ts';
import { type PodManifest, podManifestSchema } from './schema/pod.ts';

/** A pod without its unknown fields, or the problems of a value that is no pod. */
export type ManifestResult =
  | { readonly pod: PodManifest; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[]; readonly metadata?: NamedMetadata };

/** The name of the pod that a manifest with problems is of. */
export interface NamedMetadata {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Reads a decoded value as one pod, with Go's zero values in place of nulls. An unknown field is left out with a warning.
 * Values of a wrong type are problems, as is an unknown kind of volume, and unknown fields are reported with them.
 * `validatePod` checks the values themselves.
 */
export function readManifest(value: unknown): ManifestResult {
  const wrongKind = notAPod(value);
  if (wrongKind !== undefined) return { problems: [wrongKind] };
  const read = readObject(podManifestSchema, value, podRules);
  if ('object' in read && read.object.metadata.name !== '') return { pod: read.object, warnings: read.warnings };
  if ('object' in read) return { problems: [NAMELESS, ...read.warnings] };
  const known = namedSchema.safeParse(value);
  if (!known.success) return { problems: read.problems };
  const { name, namespace } = known.data.metadata ?? {};
  if (!name) return { problems: [NAMELESS, ...read.problems] };
  return { problems: read.problems, metadata: namespace ? { name, namespace } : { name } };
}

/** A node generates no names, so a manifest must have one (`tryDecodeSinglePod` of `pkg/kubelet/config/common.go`). */
const NAMELESS: Problem = { path: 'metadata.name', message: 'Required value' };

const textOrNull = z.optional(z.nullable(z.string()));
const namedSchema = z.object({
  metadata: z.optional(z.nullable(z.object({ name: textOrNull, namespace: textOrNull }))),
});

/**
 * An unknown field is an error if a volume, or a source of a projected one, has nothing else beside its name, because the
 * field was to name its kind. Without the field it would be an empty directory, which nobody requested.
 */
const podRules: KindRules = {
  unknownError: ([spec, volumes, , projected, sources, ...rest], at, keys) => {
    const isInVolumes = spec === 'spec' && volumes === 'volumes';
    const isVolume = isInVolumes && projected === undefined;
    const isSource = isInVolumes && projected === 'projected' && sources === 'sources' && rest.length === 1;
    if (!isVolume && !isSource) return undefined;
    const known = isObject(at) ? Object.keys(at).filter((key) => key !== 'name' && !keys.includes(key)) : [];
    return known.length === 0 ? 'unknown type of volume' : undefined;
  },
};

/** The one problem of something that is no pod at all, before its fields are looked at. */
function notAPod(value: unknown): Problem | undefined {
  if (!isObject(value) || Array.isArray(value)) return { path: '', message: 'expected one Pod' };
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'Pod' || typeof kind !== 'string') return undefined;
  return { path: 'kind', message: `expected Pod, got ${kind}` };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
