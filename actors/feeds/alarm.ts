import type { Clock } from '../clock.ts';

/** A wait that ends at its time, or earlier when it is rung. */
export interface Alarm {
  /** Waits until the clock shows `at`; a ring that came since the last wait ends it at once. */
  readonly wait: (at: number) => Promise<void>;
  readonly ring: () => void;
}

export function createAlarm(clock: Clock): Alarm {
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
  return {
    ring: () => {
      rung = true;
      wake?.();
    },
    wait: async (at) => {
      if (!rung) await sleep(at - clock.now());
      wake = undefined;
      rung = false;
    },
  };
}
