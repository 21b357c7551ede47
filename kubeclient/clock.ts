/** Source of time for API clients. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since an arbitrary point in time. Setting the clock does not affect it, so it is suitable for
   * measuring durations.
   */
  monotonic(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}
