import type { Clock } from '../base/time/clock.ts';

/** A timer whose current wait ends early when `ring` is called. */
export interface Alarm {
  /**
   * Waits until the clock reaches `at` or `ring` is called. Resolves immediately if `ring` has been called since the
   * last wait.
   */
  readonly waitUntil: (at: number) => Promise<void>;
  readonly ring: () => void;
}

/** Creates an alarm. Aborting the signal rings it. */
export function createAlarm(clock: Clock, signal?: AbortSignal): Alarm {
  let isRinging = false;
  let wakeUp: (() => void) | undefined;
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, Math.max(0, ms));
      wakeUp = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  const ring = () => {
    isRinging = true;
    wakeUp?.();
  };
  signal?.addEventListener('abort', ring, { once: true });
  return {
    ring,
    waitUntil: async (at) => {
      if (!isRinging) await sleep(at - clock.now());
      wakeUp = undefined;
      isRinging = false;
    },
  };
}

/**
 * Waits until the clock reaches `at` or the signal aborts. Removes the abort listener afterwards, because the signal
 * may be long-lived.
 */
export async function waitOnce(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { waitUntil, ring } = createAlarm(clock);
  signal.addEventListener('abort', ring, { once: true });
  await waitUntil(at);
  signal.removeEventListener('abort', ring);
}
