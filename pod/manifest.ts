import * as z from 'zod/mini';
import { type Problem, problemOf, unknownField } from './problem.ts';
import { type PodManifest, podManifestSchema } from './schema/pod.ts';

/** What reading a manifest gives: a pod, perhaps with fields that nobody knows left out, or why it is none. */
export type ManifestResult =
  | { readonly pod: PodManifest; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/**
 * Reads a parsed file as one pod. An unknown field is left out with a warning; whatever else is wrong is a problem, and
 * the unknown fields are told with it.
 */
export function readManifest(value: unknown): ManifestResult {
  const wrongKind = notAPod(value);
  if (wrongKind !== undefined) return { problems: [wrongKind] };
  const input = withoutNulls(value);
  const named = namedProto(input, '');
  if (named !== undefined) return { problems: [named] };
  const first = z.safeParse(podManifestSchema, input);
  if (first.success) return { pod: first.data, warnings: [] };
  const { warnings, rest } = strip(first.error.issues, input);
  if (rest.length > 0) return { problems: [...rest.map((issue) => problemOf(issue, input)), ...warnings] };
  return { pod: z.parse(podManifestSchema, input), warnings };
}

/** Takes the unknown fields out of the input; what remains of the issues is wrong. */
function strip(issues: readonly z.core.$ZodIssue[], input: unknown) {
  const warnings: Problem[] = [];
  const rest: z.core.$ZodIssue[] = [];
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') {
      rest.push(issue);
      continue;
    }
    for (const key of issue.keys) {
      warnings.push(unknownField(podManifestSchema, issue.path, key));
      remove(input, issue.path, key);
    }
  }
  return { warnings, rest };
}

function remove(input: unknown, path: readonly PropertyKey[], key: string): void {
  let at = input;
  for (const step of path) at = isObject(at) ? Reflect.get(at, step) : undefined;
  if (isObject(at)) Reflect.deleteProperty(at, key);
}

/** The one problem of something that is no pod at all, before its fields are looked at. */
function notAPod(value: unknown): Problem | undefined {
  if (!isObject(value) || Array.isArray(value)) return { path: '', message: 'expected one Pod' };
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'Pod' || typeof kind !== 'string') return undefined;
  const hint = kind.endsWith('List') ? ': write each pod into a file of its own' : '';
  return { path: 'kind', message: `expected Pod, got ${kind}${hint}` };
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
