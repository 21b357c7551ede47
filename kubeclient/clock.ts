/** Time as an input of whatever speaks with an API server. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, whatever the clock is set to meanwhile: how long something takes. */
  monotonic(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}
