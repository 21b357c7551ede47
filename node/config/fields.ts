/**
 * Defines the types of the fields of a KubeletConfiguration. Each error message says which values the field accepts.
 */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { nearest } from '../../base/nearest.ts';
import { parseDuration } from '../../kubernetes/api/parseDuration.ts';
import { parseQuantity } from '../../kubernetes/api/quantity.ts';

/** Creates the schema of a value that `is` accepts. The error message starts with "expected". */
function kind<T>(expected: string, is: (value: unknown) => boolean): z.ZodMiniCustom<T, T> {
  return z.custom<T>(is, { error: `expected ${expected}` });
}

export const text = kind<string>('a string', (value) => typeof value === 'string');

/** Schema of a path. An empty path is rejected, because it is usually an unset shell variable. */
export const path = kind<string>('a path', (value) => typeof value === 'string' && value !== '');

/** Schema of a directory for the agent's files, which must not be `/`. */
export const directory = kind<string>(
  'a directory other than /',
  (value) => typeof value === 'string' && value !== '' && !/^\/[/.]*$/.test(value),
);

export const boolean = kind<boolean>('true or false', (value) => typeof value === 'boolean');

/** Creates the schema of a number greater than `min` and at most `max`. */
export function fraction(min: number, max: number): z.ZodMiniCustom<number, number> {
  const expected = `a number above ${min} and at most ${max}`;
  return kind(expected, (value) => typeof value === 'number' && value > min && value <= max);
}

/** Creates the schema of an integer. The default bounds are those of a non-negative int32. */
export function whole(min = 0, max = 2 ** 31 - 1): z.ZodMiniCustom<number, number> {
  const range = max >= 2 ** 31 - 1 ? `of at least ${min}` : `between ${min} and ${max}`;
  return kind(
    `a whole number ${range}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  );
}

/** Creates the schema of a string that must be one of `words`. */
export function oneOf<const T extends string>(...words: readonly T[]): z.ZodMiniCustom<T, T> {
  const expected = words.length === 1 ? `"${words[0]}"` : `one of ${words.map((word) => `"${word}"`).join(', ')}`;
  return kind(expected, (value) => words.some((word) => word === value));
}

/** Maximum duration in milliseconds. Go's durations are 63-bit numbers of nanoseconds (almost 300 years). */
const LONGEST_DURATION = Number(2n ** 63n / 1_000_000n);

/** Schema of an address to listen on. An empty string means the default. */
export const listenAddress = kind<string>(
  'an IP address',
  (value) => typeof value === 'string' && (value === '' || isIP(value) !== 0),
);

/** Creates the schema of a quantity that `is` accepts, which is parsed into nanos. */
export function quantity(expected: string, is: (nanos: bigint) => boolean = () => true) {
  const nanosOf = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined;
  const isQuantity = (value: unknown) => {
    const nanos = nanosOf(value);
    return nanos !== undefined && is(nanos);
  };
  return z.pipe(
    kind<string | number>(expected, isQuantity),
    z.transform((value: string | number) => nanosOf(value) ?? 0n),
  );
}

/** Creates the schema of a string that `is` accepts. */
export function textLike(expected: string, is: (text: string) => boolean): z.ZodMiniCustom<string, string> {
  return kind(expected, (value) => typeof value === 'string' && is(value));
}

/** Creates the schema of a Go duration, which is parsed into milliseconds. The bounds are in milliseconds. */
export function duration(min = 0, max = LONGEST_DURATION, range = '') {
  const isInRange = (value: unknown): boolean => {
    const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
    return milliseconds !== undefined && milliseconds >= min && milliseconds <= max;
  };
  const type = z.pipe(
    kind<string>(`a duration such as "30s" or "1m30s"${range}`, isInRange),
    z.transform((value: string) => parseDuration(value) ?? 0),
  );
  return markDuration(type);
}

const durations = new WeakSet<z.ZodMiniType>();

/** Marks a type whose strings are durations, so that /configz can format them like Go. */
export function markDuration<T extends z.ZodMiniType>(type: T): T {
  durations.add(type);
  return type;
}

export const isDuration = (type: z.ZodMiniType): boolean => durations.has(type);

/** Parses a number on the command line. Any other text is left unchanged, so that the error message can show it. */
export function fromText(bounds: z.ZodMiniCustom<number, number>) {
  return z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^=?-?\d+$/.test(value) ? Number(value.replace('=', '')) : value,
    ),
    bounds,
  );
}

/** Schema of the runtime's socket, as `unix:///path` or as an absolute path. It is normalized to the first form. */
export const endpoint = z.pipe(
  kind<string>('a socket such as "unix:///run/containerd/containerd.sock"', (value) => {
    return typeof value === 'string' && (value === '' || /^(unix:\/\/)?\/./.test(value));
  }),
  z.transform((value: string) => (value.startsWith('/') ? `unix://${value}` : value)),
);

export function list<T extends z.ZodMiniType>(item: T): z.ZodMiniArray<T> {
  return z.array(item, { error: 'expected a list' });
}

export function map<T extends z.ZodMiniType>(value: T): z.ZodMiniRecord<z.ZodMiniString, T> {
  return z.record(z.string(), value, { error: 'expected a map of names to values' });
}

const mapsWithKnownKeys = new WeakSet<z.core.$ZodType>();

/** Whether a section is a map in Go, whose entries can be null, rather than a struct with optional fields. */
export const isMapInGo = (schema: z.core.$ZodType): boolean => mapsWithKnownKeys.has(schema);

/** Maximum number of unknown names that an error lists individually. Any others are only counted. */
const MOST_KEYS = 10;

/**
 * Creates the schema of a map with the given fields. The error has one line per unknown field, which suggests the most
 * similar known name. `what` is the noun for a key of a map of which all valid keys are known.
 */
export function section<T extends z.core.$ZodLooseShape>(fields: T, what = 'field') {
  const known = Object.keys(fields);
  const schema = z.strictObject(fields, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'expected a map of fields';
      const lines = issue.keys.slice(0, MOST_KEYS).map((key) => `${key}: unknown ${what}${suggestion(key, known)}`);
      const more = issue.keys.length - lines.length;
      return [...lines, ...(more > 0 ? [`and ${more} more unknown ${what}s`] : [])].join('\n');
    },
  });
  if (what !== 'field') mapsWithKnownKeys.add(schema);
  return schema;
}

/** Returns "; did you mean …?", or an empty string if no known name is similar. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}
