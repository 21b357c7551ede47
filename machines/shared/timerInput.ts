/**
 * A timer, which sends `timer.elapsed` when it is over. `after` is a duration in milliseconds. `until` is a time in
 * milliseconds since the epoch, at most `within` milliseconds away unless the clock was set back since it was computed.
 * Neither of the two follows later changes of the clock. `shown` ends when the wall clock shows the time, even if the
 * clock is set meanwhile. `due` ends as soon as either the wall clock or the monotonic clock reaches the time, and also
 * if the wall clock is set back, because the time is then unknown. The event repeats the name in `wait`, which tells
 * several timers of an actor apart.
 */
export type TimerInput =
  | { readonly after: number; readonly wait?: string }
  | { readonly until: number; readonly within?: number }
  | { readonly shown: number }
  | { readonly due: number };
