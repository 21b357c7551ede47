/**
 * Reads objects from manifests and from API servers. The test API server uses it, too. Nulls and missing fields become
 * Go's zero values, and then a schema checks the types.
 */

import * as z from 'zod/mini';
import { isObject } from '../../base/isObject.ts';
import { type Problem, problemOf, unknownField, valueAt } from './problem.ts';
import { withZeroValues } from './zeroValues.ts';

/** An object without its unknown fields, or the problems of an invalid value. */
export type ObjectResult<T> =
  | { readonly object: T; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** Rules of a kind for the reader. */
export interface KindRules {
  /**
   * Returns a message if an unknown field is an error instead of a warning. `owner` is the object that has the unknown
   * fields `keys`.
   */
  readonly unknownError?: (path: readonly PropertyKey[], owner: unknown, keys: readonly string[]) => string | undefined;
  /** Whether the value at a path is secret, in which case no message repeats it. */
  readonly isSecret?: (path: readonly PropertyKey[]) => boolean;
}

/**
 * Maximum number of unknown fields for which the warning suggests a similar known field. Users misspell only a few
 * fields, and each suggestion takes time.
 */
const MAX_HINTS = 20;

/**
 * Reads a decoded value as an object of a schema. An unknown field is left out with a warning unless `unknownError`
 * reports an error for it. A value of a wrong type is a problem, and unknown fields are then reported with it.
 */
export function readObject<Schema extends z.ZodMiniObject>(
  schema: Schema,
  value: unknown,
  rules: KindRules = {},
): ObjectResult<z.output<Schema>> {
  const protoProblem = findProtoKey(value, '');
  if (protoProblem !== undefined) return { problems: [protoProblem] };
  const input = withZeroValues(schema, value);
  const result = z.safeParse(schema, input);
  if (result.success) return { object: result.data, warnings: [] };
  const { warnings, mistyped, errors } = removeUnknownFields(result.error.issues, input, schema, rules);
  if (mistyped.length + errors.length === 0) return { object: z.parse(schema, input), warnings };
  const mistypedProblems = mistyped.map((issue) => problemOf(issue, input, value, rules.isSecret?.(issue.path)));
  return { problems: [...mistypedProblems, ...errors, ...warnings] };
}

/** Deletes the unknown fields from the input and groups the issues. */
function removeUnknownFields(
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
    const owner = valueAt(input, issue.path);
    const error = unknownError?.(issue.path, owner, issue.keys);
    for (const key of issue.keys) {
      if (error !== undefined) errors.push(unknownField(schema, issue.path, key, true, error));
      else warnings.push(unknownField(schema, issue.path, key, warnings.length < MAX_HINTS));
      if (error === undefined && typeof owner === 'object' && owner !== null) Reflect.deleteProperty(owner, key);
    }
  }
  return { warnings, mistyped, errors };
}

/** Finds an entry with the name `__proto__` in a label, annotation or other map, which a schema would drop silently. */
function findProtoKey(value: unknown, path: string): Problem | undefined {
  if (typeof value !== 'object' || value === null || isDataPath(path)) return undefined;
  if (Object.hasOwn(value, '__proto__'))
    return { path, message: 'Invalid value: "__proto__": a name must start and end with an alphanumeric character' };
  for (const [key, each] of Object.entries(value)) {
    const problem = findProtoKey(each, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    if (problem) return problem;
  }
  return undefined;
}

/** Whether a path is the data of a ConfigMap or Secret, where `__proto__` is a valid key and is preserved. */
const isDataPath = (path: string): boolean => ['data', 'binaryData', 'stringData'].includes(path);

/** Returns a copy of an API object without its managed fields, which can be larger than the rest of the object. */
export function withoutManagedFields(object: unknown, type: { readonly apiVersion: string; readonly kind: string }) {
  if (!isObject(object)) return object;
  const { metadata } = object;
  // Items of a list do not repeat its type.
  if (!isObject(metadata)) return { ...type, ...object };
  const { managedFields: _, ...otherMetadata } = metadata;
  return { ...type, ...object, metadata: otherMetadata };
}
