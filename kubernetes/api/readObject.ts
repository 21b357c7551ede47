/**
 * The reader of all objects: of manifests, of what an API server sends, and of the checks of the test API server. Nulls and
 * missing fields become Go's zero values first, then a schema checks the types.
 */
import * as z from 'zod/mini';
import { type Problem, problemOf, unknownField, valueAt } from './problem.ts';
import { withZeroValues } from './zeroValues.ts';

/** An object without its unknown fields, or the problems of a value that is no such object. */
export type ObjectResult<T> =
  | { readonly object: T; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** The rules that a kind adds to the reader. */
export interface KindRules {
  /** Describes an unknown field that is an error, not a warning. `at` is the object that has the fields `keys`. */
  readonly unknownError?: (path: readonly PropertyKey[], at: unknown, keys: readonly string[]) => string | undefined;
  /** Whether the value at a path is secret, so that no message repeats it. */
  readonly isSecret?: (path: readonly PropertyKey[]) => boolean;
}

/** Maximum number of unknown fields for which a similar known field is suggested, because people mistype a few. */
const MOST_HINTS = 20;

/**
 * Reads a decoded value as an object of a schema. An unknown field is left out with a warning, unless `unknownError` says
 * that it is an error. Values of a wrong type are problems, and unknown fields are reported with them.
 */
export function readObject<Schema extends z.ZodMiniObject>(
  schema: Schema,
  value: unknown,
  rules: KindRules = {},
): ObjectResult<z.output<Schema>> {
  const named = namedProto(value, '');
  if (named !== undefined) return { problems: [named] };
  const input = withZeroValues(schema, value);
  const first = z.safeParse(schema, input);
  if (first.success) return { object: first.data, warnings: [] };
  const { warnings, mistyped, errors } = takeOutUnknown(first.error.issues, input, schema, rules);
  if (mistyped.length + errors.length === 0) return { object: z.parse(schema, input), warnings };
  const described = mistyped.map((issue) => problemOf(issue, input, value, rules.isSecret?.(issue.path)));
  return { problems: [...described, ...errors, ...warnings] };
}

/** Deletes the unknown fields from the input, and sorts the issues. */
function takeOutUnknown(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  schema: z.ZodMiniObject,
  { unknownError }: KindRules,
) {
  const warnings: Problem[] = [];
  const mistyped: z.core.$ZodIssue[] = [];
  const errors: Problem[] = [];
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') {
      mistyped.push(issue);
      continue;
    }
    const at = valueAt(input, issue.path);
    const error = unknownError?.(issue.path, at, issue.keys);
    for (const key of issue.keys) {
      if (error !== undefined) errors.push(unknownField(schema, issue.path, key, true, error));
      else warnings.push(unknownField(schema, issue.path, key, warnings.length < MOST_HINTS));
      if (error === undefined && typeof at === 'object' && at !== null) Reflect.deleteProperty(at, key);
    }
  }
  return { warnings, mistyped, errors };
}

/** Finds a label, annotation or other entry of a plain map with the name `__proto__`, which a schema would drop silently. */
function namedProto(value: unknown, path: string): Problem | undefined {
  if (typeof value !== 'object' || value === null || isData(path)) return undefined;
  if (Object.hasOwn(value, '__proto__'))
    return { path, message: 'Invalid value: "__proto__": a name must start and end with an alphanumeric character' };
  for (const [key, each] of Object.entries(value)) {
    const problem = namedProto(each, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    if (problem) return problem;
  }
  return undefined;
}

/** Whether a path is that of the data of a ConfigMap or Secret, in which `__proto__` is a valid key and no key is lost. */
const isData = (path: string): boolean => ['data', 'binaryData', 'stringData'].includes(path);

/** A copy of an object from an API server without the bookkeeping of field managers, which can be larger than the rest. */
export function withoutManagedFields(object: unknown, type: { readonly apiVersion: string; readonly kind: string }) {
  if (!isRecord(object)) return object;
  const { metadata } = object;
  // A list does not repeat the type in its items.
  if (!isRecord(metadata)) return { ...type, ...object };
  const { managedFields: _, ...own } = metadata;
  return { ...type, ...object, metadata: own };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
