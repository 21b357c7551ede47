/** A clock without timers. */
export interface StatsClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary time, unaffected by changes to the wall clock. */
  monotonic(): number;
}
