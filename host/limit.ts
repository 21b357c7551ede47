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

/** What a promise comes to, unless the signal aborts before: then its reason, whatever becomes of the promise. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
