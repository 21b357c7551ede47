/** Returns the median. For an even count, returns the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Returns the value that `percent` percent of all values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN;
}

/** Formats the median and the range of times in milliseconds, e.g. `148 ms (131–190)`. */
export function milliseconds(values: readonly number[]): string {
  const range = values.length > 1 ? ` (${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)})` : '';
  return `${median(values).toFixed(0)} ms${range}`;
}

/** Returns the current time in milliseconds since the epoch, with the highest available resolution. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();
