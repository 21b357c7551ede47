/**
 * Input of a timer, which sends `timer.elapsed` when it elapses. `after` is a duration in milliseconds. `until`,
 * `shown` and `due` are times in milliseconds since the epoch. `until` is at most `within` milliseconds away, unless
 * the clock has been set back since `until` was computed. Later clock adjustments affect neither `after` nor `until`. A
 * timer with `shown` elapses when the wall clock reaches `shown`, even if the clock is adjusted in the meantime. A
 * timer with `due` elapses as soon as either the wall clock or the monotonic clock reaches `due`, and also if the wall
 * clock is set back, because the remaining time is then unknown. The event contains `wait`, which distinguishes several
 * timers of an actor.
 */
export type TimerInput =
  | { readonly after: number; readonly wait?: string }
  | { readonly until: number; readonly within?: number }
  | { readonly shown: number }
  | { readonly due: number };
