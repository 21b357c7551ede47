import type { Clock } from '../base/clock.ts';

/** A wait that ends at its time, or earlier when it is rung. */
export interface Alarm {
  /** Waits until the clock shows `at`; a ring that came since the last wait ends it at once. */
  readonly wait: (at: number) => Promise<void>;
  readonly ring: () => void;
}

/** Makes an alarm; when the signal aborts it rings by itself. */
export function createAlarm(clock: Clock, signal?: AbortSignal): Alarm {
  let rung = false;
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
    rung = true;
    wake?.();
  };
  signal?.addEventListener('abort', ring, { once: true });
  return {
    ring,
    wait: async (at) => {
      if (!rung) await sleep(at - clock.now());
      wake = undefined;
      rung = false;
    },
  };
}

/** Waits once until the clock shows `at` or the signal aborts. Nothing of it is left on the signal, which may live long. */
export async function waitOnce(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { wait, ring } = createAlarm(clock);
  signal.addEventListener('abort', ring, { once: true });
  await wait(at);
  signal.removeEventListener('abort', ring);
}
