/** Time as whoever counts what is used reads it; it sets no timers. */
export interface StatsClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, whatever the clock is set to meanwhile. */
  monotonic(): number;
}
