import type { Clock } from '../base/clock.ts';

/** A wait that `ring` can end early. */
export interface Alarm {
  /** Waits until the clock reaches `at`. Returns immediately if `ring` was called since the last wait. */
  readonly wait: (at: number) => Promise<void>;
  readonly ring: () => void;
}

/** Creates an alarm. Aborting the signal rings it. */
export function createAlarm(clock: Clock, signal?: AbortSignal): Alarm {
  let hasRung = false;
  let wake: (() => void) | undefined;
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, Math.max(0, ms));
      wake = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  const ring = () => {
    hasRung = true;
    wake?.();
  };
  signal?.addEventListener('abort', ring, { once: true });
  return {
    ring,
    wait: async (at) => {
      if (!hasRung) await sleep(at - clock.now());
      wake = undefined;
      hasRung = false;
    },
  };
}

/**
 * Waits until the clock reaches `at` or the signal aborts. Removes the abort listener afterwards, because the signal
 * may be long-lived.
 */
export async function waitOnce(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { wait, ring } = createAlarm(clock);
  signal.addEventListener('abort', ring, { once: true });
  await wait(at);
  signal.removeEventListener('abort', ring);
}
