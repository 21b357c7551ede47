/**
 * Reads objects from manifests and from API servers. Describes problems in the node's own wording. The test API server
 * uses the same decoder but describes problems in Go's wording.
 */
import type * as z from 'zod/mini';
import { runAllSteps } from '../../base/async/steps.ts';
import { isObject } from '../../base/values/isObject.ts';
import { decodeValue, type Mismatch, type UnknownField } from './decode/decodeValue.ts';
import { mismatchIssue } from './decode/mismatchIssue.ts';
import { goTypeOf } from './decode/schemaType.ts';
import { fieldPath, type Problem, problemOf, unknownField } from './problem.ts';

/** An object without unknown fields, or the problems of an invalid value. */
export type ObjectResult<T> =
  | { readonly object: T; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** Rules for reading objects of one kind. */
export interface KindRules {
  /**
   * Returns an error message if unknown fields must be rejected rather than removed with a warning, and undefined
   * otherwise. `keys` are the names of the unknown fields in the object `owner`.
   */
  readonly unknownError?: (path: readonly PropertyKey[], owner: unknown, keys: readonly string[]) => string | undefined;
  /** Whether the value at a path is secret, in which case no message may quote it. */
  readonly isSecret?: (path: readonly PropertyKey[]) => boolean;
  /** Returns an addition to the message about a value of the wrong type. */
  readonly mismatchHint?: (mismatch: Mismatch) => string;
}

/**
 * Maximum number of unknown fields for which the warning suggests a similar known field. Few fields are misspelt, and
 * computing a suggestion takes time.
 */
const MAX_HINTS = 20;

/**
 * Reads a decoded value as an object that a schema describes. Unknown fields are removed with a warning unless
 * `unknownError` returns an error for them. A value of the wrong type is a problem, in which case unknown fields are
 * reported as problems, too.
 */
export const readObject = <Schema extends z.ZodMiniObject>(
  schema: Schema,
  value: unknown,
  rules: KindRules = {},
): ObjectResult<z.output<Schema>> => runAllSteps(readObjectInSteps(schema, value, rules));

/** Reads an object like `readObject`, but in several steps, because reading a large object takes a long time. */
export function* readObjectInSteps<Schema extends z.ZodMiniObject>(
  schema: Schema,
  value: unknown,
  rules: KindRules,
): Generator<void, ObjectResult<z.output<Schema>>> {
  const protoPath = findProtoKey(value);
  if (protoPath !== undefined) return { problems: [{ path: pathText(protoPath), message: PROTO_MESSAGE }] };
  yield;
  const decoded = decodeValue(value, goTypeOf(schema));
  const { warnings, errors } = unknownFieldProblems(decoded.unknownFields, rules);
  if (decoded.mismatches.length + errors.length === 0) {
    // Safe cast, because the value was decoded as the schema's type.
    return { object: decoded.value as z.output<Schema>, warnings };
  }
  const mismatchProblems = decoded.mismatches.map((mismatch) => mismatchProblem(mismatch, value, rules));
  return { problems: [...mismatchProblems, ...errors, ...warnings] };
}

function mismatchProblem(mismatch: Mismatch, input: unknown, { isSecret, mismatchHint }: KindRules): Problem {
  const { path, reason } = mismatch;
  if (reason === 'missing') return { path: fieldPath(path), message: 'Required value' };
  const problem = problemOf(mismatchIssue(mismatch), input, isSecret?.(path));
  return { ...problem, message: problem.message + (mismatchHint?.(mismatch) ?? '') };
}

/** Divides the problems with unknown fields into warnings and errors. */
function unknownFieldProblems(unknownFields: readonly UnknownField[], { unknownError }: KindRules) {
  const warnings: Problem[] = [];
  const errors: Problem[] = [];
  for (const [owner, fields] of Map.groupBy(unknownFields, (field) => field.owner)) {
    const error = unknownError?.(
      fields[0]?.path ?? [],
      owner,
      fields.map(({ name }) => name),
    );
    for (const field of fields) {
      if (error !== undefined) errors.push(unknownField(field, true, error));
      else warnings.push(unknownField(field, warnings.length < MAX_HINTS));
    }
  }
  return { warnings, errors };
}

const PROTO_MESSAGE = 'Invalid value: "__proto__": a name must start and end with an alphanumeric character';

/** Fields with the data of a ConfigMap or Secret, where `__proto__` is a valid key and is preserved. */
const DATA_FIELDS: readonly string[] = ['data', 'binaryData', 'stringData'];

/**
 * Returns the path of the first map (e.g. labels or annotations) with the key `__proto__`, which the schema would
 * silently drop. Builds the path only if there is such a map, because a large object has tens of thousands of values.
 */
function findProtoKey(value: unknown, skippedFields = DATA_FIELDS): PathPart[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, '__proto__')) return [];
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    if (!isList && skippedFields.includes(key)) continue;
    const rest = findProtoKey(Reflect.get(value, key), []);
    if (rest !== undefined) return [{ key, isIndex: isList }, ...rest];
  }
  return undefined;
}

interface PathPart {
  readonly key: string;
  readonly isIndex: boolean;
}

const pathText = (path: readonly PathPart[]): string =>
  path.reduce((text, { key, isIndex }) => (isIndex ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '');

/** Returns a copy of an API object without its managed fields, which can be larger than the rest of the object. */
export function withoutManagedFields(object: unknown, type: { readonly apiVersion: string; readonly kind: string }) {
  if (!isObject(object)) return object;
  const { metadata } = object;
  // Add the type, because the items of a list do not repeat it.
  if (!isObject(metadata)) return { ...type, ...object };
  const { managedFields: _, ...otherMetadata } = metadata;
  return { ...type, ...object, metadata: otherMetadata };
}
