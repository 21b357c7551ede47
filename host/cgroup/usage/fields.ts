/** Parses numbers in cgroup files. The functions return undefined for values that are not numbers. */

/** Parses a file with a single number. */
export const parseNumber = (text: string | undefined): number | undefined => parseDigits(text?.trim());

/**
 * Values above this mean "no limit" on v1, where the maximum is rounded to whole pages (`maxMemorySize` in cAdvisor's
 * prometheus.go).
 */
const UNLIMITED_THRESHOLD = 2 ** 62;

/**
 * Parses a file with a single limit. Returns undefined for no limit: `max`, `-1`, or a number that is too large to be a
 * real limit.
 */
export function parseLimit(text: string | undefined): number | undefined {
  const limit = parseNumber(text);
  return limit === undefined || limit > UNLIMITED_THRESHOLD ? undefined : limit;
}

/** Parses the number after a key at the start of a line, e.g. `nr_periods 12`. */
export function parseField(text: string | undefined, key: string): number | undefined {
  if (text === undefined) return undefined;
  const lineStart = text.startsWith(`${key} `) ? 0 : text.indexOf(`\n${key} `) + 1;
  if (lineStart === 0 && !text.startsWith(`${key} `)) return undefined;
  const end = text.indexOf('\n', lineStart);
  return parseDigits(text.slice(lineStart + key.length + 1, end < 0 ? undefined : end).trim());
}

/** Multiplies a value if it is defined. */
export const multiply = (value: number | undefined, factor: number): number | undefined =>
  value === undefined ? undefined : value * factor;

const parseDigits = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
