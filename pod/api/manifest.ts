import * as z from 'zod/mini';
import { type Problem, problemOf, unknownField, valueAt } from './problem.ts';
import { type PodManifest, podManifestSchema } from './schema/pod.ts';
import { withZeroValues } from './zeroValues.ts';

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
  const named = namedProto(value, '');
  if (named !== undefined) return { problems: [named] };
  const input = withZeroValues(podManifestSchema, value);
  const known = metadataOnly.safeParse(input);
  const metadata = known.success && known.data.metadata.name !== '' ? known.data.metadata : undefined;
  const nameless = known.success && metadata === undefined ? [NAMELESS] : [];
  const first = z.safeParse(podManifestSchema, input);
  if (first.success && nameless.length === 0) return { pod: first.data, warnings: [] };
  const { warnings, rest, wrong } = strip(first.error?.issues ?? [], input);
  if (nameless.length + rest.length + wrong.length === 0) return { pod: z.parse(podManifestSchema, input), warnings };
  return {
    problems: [...nameless, ...rest.map((issue) => problemOf(issue, input, value)), ...wrong, ...warnings],
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** A node generates no names, so a manifest must have one (`tryDecodeSinglePod` of `pkg/kubelet/config/common.go`). */
const NAMELESS: Problem = { path: 'metadata.name', message: 'Required value' };

const metadataOnly = z.object({ metadata: z.object({ name: z.string(), namespace: z.exactOptional(z.string()) }) });

/** Of so many unknown fields the known one that is meant is looked for: people mistype a few. */
const MOST_HINTS = 20;

/** Takes the unknown fields out of the input; what remains of the issues is wrong. */
function strip(issues: readonly z.core.$ZodIssue[], input: unknown) {
  const warnings: Problem[] = [];
  const rest: z.core.$ZodIssue[] = [];
  const wrong: Problem[] = [];
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') {
      rest.push(issue);
      continue;
    }
    if (isSourceless(issue, input)) {
      wrong.push(
        ...issue.keys.map((key) => unknownField(podManifestSchema, issue.path, key, true, 'unknown type of volume')),
      );
      continue;
    }
    for (const key of issue.keys) {
      const isHinted = warnings.length < MOST_HINTS;
      warnings.push(unknownField(podManifestSchema, issue.path, key, isHinted));
      remove(input, issue.path, key);
    }
  }
  return { warnings, rest, wrong };
}

/**
 * Whether unknown fields are all that a volume, or a source of a projected one, has beside its name: they were to say what
 * kind it is. Without them it would be an empty directory, which nobody has asked for.
 */
function isSourceless({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, input: unknown): boolean {
  const [spec, volumes, , projected, sources] = path;
  const isVolume = spec === 'spec' && volumes === 'volumes';
  const isSource = isVolume && path.length === 6 && projected === 'projected' && sources === 'sources';
  if (!isSource && !(isVolume && path.length === 3)) return false;
  const at = valueAt(input, path);
  const known = isObject(at) ? Object.keys(at).filter((key) => key !== 'name' && !keys.includes(key)) : [];
  return known.length === 0;
}

function remove(input: unknown, path: readonly PropertyKey[], key: string): void {
  const at = valueAt(input, path);
  if (isObject(at)) Reflect.deleteProperty(at, key);
}

/** The one problem of something that is no pod at all, before its fields are looked at. */
function notAPod(value: unknown): Problem | undefined {
  if (!isObject(value) || Array.isArray(value)) return { path: '', message: 'expected one Pod' };
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'Pod' || typeof kind !== 'string') return undefined;
  return { path: 'kind', message: `expected Pod, got ${kind}` };
}

/** Of a label or annotation that is called so: a schema would leave it out without a word. */
function namedProto(value: unknown, path: string): Problem | undefined {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, '__proto__'))
    return { path, message: 'Invalid value: "__proto__": a name must start and end with an alphanumeric character' };
  for (const [key, each] of Object.entries(value)) {
    const problem = namedProto(each, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    if (problem) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
