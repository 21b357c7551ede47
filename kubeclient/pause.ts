import type { Clock } from '../base/time/clock.ts';

/** Waits for a number of milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', abortPause);
      resolve();
    }, ms);
    const abortPause = () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abortPause, { once: true });
  });
}
