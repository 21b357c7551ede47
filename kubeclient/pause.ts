import type { Clock } from './clock.ts';

/** Waits for so many milliseconds; rejects with the signal's reason as soon as that aborts. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    if (signal.aborted) return fail(signal.reason);
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', giveUp);
      done();
    }, ms);
    const giveUp = () => {
      clock.clearTimeout(timer);
      fail(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
