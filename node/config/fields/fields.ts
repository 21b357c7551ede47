/** Defines the field types of a KubeletConfiguration. Each error message says which values the field accepts. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { closestWord } from '../../../base/text/closestWord.ts';
import { withGoType } from '../../../kubernetes/api/decode/schemaType.ts';
import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';

/** Creates the schema of a value that `isValid` accepts. The error message starts with "expected". */
function customSchema<T>(expected: string, isValid: (value: unknown) => boolean): z.ZodMiniCustom<T, T> {
  return z.custom<T>(isValid, { error: `expected ${expected}` });
}

export const stringSchema = customSchema<string>('a string', (value) => typeof value === 'string');

/** Schema of a path. An empty path is rejected, because it is usually an unset shell variable. */
export const pathSchema = customSchema<string>('a path', (value) => typeof value === 'string' && value !== '');

/** Schema of a directory for the agent's files, which must not be `/`. */
export const directorySchema = customSchema<string>(
  'a directory other than /',
  (value) => typeof value === 'string' && value !== '' && !/^\/[/.]*$/.test(value),
);

export const booleanSchema = customSchema<boolean>('true or false', (value) => typeof value === 'boolean');

/** Creates the schema of a number greater than `min` and at most `max`. */
export function fractionSchema(min: number, max: number): z.ZodMiniCustom<number, number> {
  const expectedText = `a number above ${min} and at most ${max}`;
  return customSchema(expectedText, (value) => typeof value === 'number' && value > min && value <= max);
}

/** Creates the schema of an integer. The default bounds are those of a non-negative int32. */
export function integerSchema(min = 0, max = 2 ** 31 - 1): z.ZodMiniCustom<number, number> {
  const rangeText = max >= 2 ** 31 - 1 ? `of at least ${min}` : `between ${min} and ${max}`;
  return customSchema(
    `a whole number ${rangeText}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  );
}

/** Creates the schema of a string that must be one of `allowedValues`. */
export function enumSchema<const T extends string>(...allowedValues: readonly T[]): z.ZodMiniCustom<T, T> {
  const expectedText =
    allowedValues.length === 1
      ? `"${allowedValues[0]}"`
      : `one of ${allowedValues.map((word) => `"${word}"`).join(', ')}`;
  return customSchema(expectedText, (value) => allowedValues.some((word) => word === value));
}

/** Maximum duration in milliseconds. Go's durations are 63-bit numbers of nanoseconds (almost 300 years). */
const MAX_DURATION_MS = Number(2n ** 63n / 1_000_000n);

/** Schema of an address to listen on. An empty string means the default. */
export const listenAddressSchema = customSchema<string>(
  'an IP address',
  (value) => typeof value === 'string' && (value === '' || isIP(value) !== 0),
);

/** Creates the schema of a quantity that `isValid` accepts. The quantity is parsed into billionths of its unit. */
export function quantitySchema(expected: string, isValid: (nanos: bigint) => boolean = () => true) {
  const parseNanos = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined;
  const isAcceptedQuantity = (value: unknown) => {
    const nanos = parseNanos(value);
    return nanos !== undefined && isValid(nanos);
  };
  return z.pipe(
    customSchema<string | number>(expected, isAcceptedQuantity),
    z.transform((value: string | number) => parseNanos(value) ?? 0n),
  );
}

/** Creates the schema of a string that `isValid` accepts. */
export function matchingStringSchema(
  expected: string,
  isValid: (text: string) => boolean,
): z.ZodMiniCustom<string, string> {
  return customSchema(expected, (value) => typeof value === 'string' && isValid(value));
}

/** Creates the schema of a Go duration, which is parsed into milliseconds. The bounds are in milliseconds. */
export function durationSchema(min = 0, max = MAX_DURATION_MS, range = '') {
  const isDurationInRange = (value: unknown): boolean => {
    const durationMs = typeof value === 'string' ? parseDuration(value) : undefined;
    return durationMs !== undefined && durationMs >= min && durationMs <= max;
  };
  const type = z.pipe(
    customSchema<string>(`a duration such as "30s" or "1m30s"${range}`, isDurationInRange),
    z.transform((value: string) => parseDuration(value) ?? 0),
  );
  return markDuration(type);
}

const durationSchemas = new WeakSet<z.ZodMiniType>();

/** Marks a schema whose strings are durations, so that /configz can format them as Go does. */
export function markDuration<T extends z.ZodMiniType>(type: T): T {
  durationSchemas.add(type);
  return type;
}

export const isDurationSchema = (type: z.ZodMiniType): boolean => durationSchemas.has(type);

/**
 * Creates the schema of a number on the command line. Any other text is passed to `bounds` unchanged, so that the error
 * message can quote it.
 */
export function parsedNumberSchema(bounds: z.ZodMiniCustom<number, number>) {
  return z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^=?-?\d+$/.test(value) ? Number(value.replace('=', '')) : value,
    ),
    bounds,
  );
}

/**
 * Schema of the runtime's socket, either a URL such as `unix:///path` or an absolute path, which is converted to a URL.
 */
export const endpointSchema = z.pipe(
  customSchema<string>('a socket such as "unix:///run/containerd/containerd.sock"', (value) => {
    return typeof value === 'string' && (value === '' || /^(unix:\/\/)?\/./.test(value));
  }),
  z.transform((value: string) => (value.startsWith('/') ? `unix://${value}` : value)),
);

export function listSchema<T extends z.ZodMiniType>(item: T): z.ZodMiniArray<T> {
  return z.array(item, { error: 'expected a list' });
}

export function mapSchema<T extends z.ZodMiniType>(value: T): z.ZodMiniRecord<z.ZodMiniString, T> {
  return z.record(z.string(), value, { error: 'expected a map of names to values' });
}

/** Maximum number of unknown names that an error lists individually. Any others are only counted. */
const MAX_LISTED_KEYS = 10;

/**
 * Creates the schema of a map with the given fields. The error has one line per unknown field, which suggests the most
 * similar known name. `keyNoun` is the noun for a key in error messages. If it is not "field", the section is a map of
 * strings in Go instead of a struct, so its entries can be null.
 */
export function sectionSchema<T extends z.core.$ZodLooseShape>(fields: T, keyNoun = 'field') {
  const knownNames = Object.keys(fields);
  const schema = z.strictObject(fields, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'expected a map of fields';
      const lines = issue.keys
        .slice(0, MAX_LISTED_KEYS)
        .map((key) => `${key}: unknown ${keyNoun}${formatSuggestion(key, knownNames)}`);
      const remainingCount = issue.keys.length - lines.length;
      return [...lines, ...(remainingCount > 0 ? [`and ${remainingCount} more unknown ${keyNoun}s`] : [])].join('\n');
    },
  });
  return keyNoun === 'field' ? schema : withGoType(schema, { kind: 'map', values: { kind: 'string' } });
}

/** Returns "; did you mean …?", or an empty string if no known name is similar. */
export function formatSuggestion(name: string, knownNames: readonly string[]): string {
  const nearestName = closestWord(name, knownNames);
  return nearestName === undefined ? '' : `; did you mean ${nearestName}?`;
}
