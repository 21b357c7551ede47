/** Numbers out of the texts that the kernel has in the files of cgroups; what is none is absent. */

/** A number that is a file of its own. */
export const numberIn = (text: string | undefined): number | undefined => numeral(text?.trim());

/** Above this v1 says "no limit": the largest number of bytes in whole pages (`maxMemorySize` in cAdvisor's prometheus.go). */
const UNLIMITED = 2 ** 62;

/** A limit that is a file of its own; absent when there is none: `max`, `-1`, or a number that no host has. */
export function limitIn(text: string | undefined): number | undefined {
  const limit = numberIn(text);
  return limit === undefined || limit > UNLIMITED ? undefined : limit;
}

/** The number after a key, at the beginning of a line: `nr_periods 12`. */
export function fieldIn(text: string | undefined, key: string): number | undefined {
  if (text === undefined) return undefined;
  const start = text.startsWith(`${key} `) ? 0 : text.indexOf(`\n${key} `) + 1;
  if (start === 0 && !text.startsWith(`${key} `)) return undefined;
  const end = text.indexOf('\n', start);
  return numeral(text.slice(start + key.length + 1, end < 0 ? undefined : end).trim());
}

/** So many times what it is, if it is anything. */
export const times = (value: number | undefined, factor: number): number | undefined =>
  value === undefined ? undefined : value * factor;

const numeral = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
