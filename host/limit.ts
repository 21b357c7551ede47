import { LONGEST_TIMER_MS } from '../pod/api/duration.ts';

/** A time limit of a call. */
export interface Limit {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The call has ended: nothing waits any more. */
  readonly end: () => void;
}

/** Counts down so many milliseconds, in steps that a timer can count: a longer one would fire at once. It keeps no process alive. */
export function startLimit(ms: number, longestMs = LONGEST_TIMER_MS): Limit {
  const over = new AbortController();
  let end = () => {};
  const step = (left: number) => {
    const part = AbortSignal.timeout(Math.ceil(Math.min(left, longestMs)));
    const next = () => (left > longestMs ? step(left - longestMs) : over.abort());
    part.addEventListener('abort', next, { once: true });
    end = () => part.removeEventListener('abort', next);
  };
  step(Math.max(0, ms));
  return { signal: over.signal, end: () => end() };
}
