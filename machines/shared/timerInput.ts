/**
 * A wait, then `timer.elapsed`: `after` milliseconds from now, or `until` a moment (milliseconds since the epoch). That is
 * not further away than `within` milliseconds, unless the clock was set back since the moment was reckoned. These go on as
 * they began; one until the clock has `shown` a moment goes by whatever that is set to meanwhile. What is `due` at a moment
 * is due as soon as one of the two clocks has come there, and also when the time of day is set back: then nobody knows. What
 * an actor with several waits at a time calls one (`wait`) the event says again.
 */
export type TimerInput =
  | { readonly after: number; readonly wait?: string }
  | { readonly until: number; readonly within?: number }
  | { readonly shown: number }
  | { readonly due: number };
