import * as z from 'zod/mini';
import { type Problem, problemOf, unknownField, valueAt } from './problem.ts';
import { type PodManifest, podManifestSchema } from './schema/pod.ts';

/** What reading a manifest gives: a pod, perhaps with fields that nobody knows left out, or why it is none. */
export type ManifestResult =
  | { readonly pod: PodManifest; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[]; readonly metadata?: NamedMetadata };

/** As much as can be told of which pod a manifest is of. */
export interface NamedMetadata {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Reads a parsed file as one pod. An unknown field is left out with a warning; whatever else is wrong is a problem, as is
 * an unknown kind of volume, and the unknown fields are told with it.
 */
export function readManifest(value: unknown): ManifestResult {
  const wrongKind = notAPod(value);
  if (wrongKind !== undefined) return { problems: [wrongKind] };
  const input = withoutNulls(value);
  const named = namedProto(input, '');
  if (named !== undefined) return { problems: [named] };
  const first = z.safeParse(podManifestSchema, input);
  if (first.success) return { pod: first.data, warnings: [] };
  const { warnings, rest, wrong } = strip(first.error.issues, input);
  if (rest.length + wrong.length === 0) return { pod: z.parse(podManifestSchema, input), warnings };
  const known = metadataOnly.safeParse(input);
  return {
    problems: [...rest.map((issue) => problemOf(issue, input, value)), ...wrong, ...warnings],
    ...(known.success ? { metadata: known.data.metadata } : {}),
  };
}

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

/** A copy in which a field that is null is absent, as Kubernetes reads it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutNulls(each)]));
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
