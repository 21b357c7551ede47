import { LONGEST_TIMER_MS } from './duration.ts';

/** A time limit of a call. */
export interface Limit {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The call has ended: nothing waits any more. */
  readonly end: () => void;
}

/**
 * Counts down so many milliseconds, in steps that a timer can count: a longer one would fire at once. It keeps no process
 * alive. A call that has ended leaves no timer: one of `AbortSignal.timeout` would stay until its time is over, some
 * thousands after a burst of pods.
 */
export function startLimit(ms: number, longestMs = LONGEST_TIMER_MS): Limit {
  const over = new AbortController();
  let timer: NodeJS.Timeout;
  const step = (left: number) => {
    const next = () => (left > longestMs ? step(left - longestMs) : over.abort());
    timer = setTimeout(next, Math.ceil(Math.min(left, longestMs))).unref();
  };
  step(Math.max(0, ms));
  return { signal: over.signal, end: () => clearTimeout(timer) };
}
