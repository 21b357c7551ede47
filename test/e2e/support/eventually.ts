import { setTimeout as pause } from 'node:timers/promises';

/** Time limit in milliseconds, far more than anything here takes, so that no test fails on a busy machine. */
const LIMIT_MS = 60_000;
const STEP_MS = 50;

/** Thrown by a `look` function if the expected state cannot be reached any more. */
export class Hopeless extends Error {}

/**
 * Polls `look` until it returns a value other than undefined or false, and returns this value. An error from `look`
 * means "not yet", unless it is `Hopeless`. At the time limit, the last error becomes the cause of the failure.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = LIMIT_MS,
): Promise<Exclude<T, undefined | false>> {
  const until = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      const result = await look();
      // The check has excluded undefined and false.
      if (result !== undefined && result !== false) return result as Exclude<T, undefined | false>;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    if (performance.now() > until) throw new Error(`it did not come to this: ${what}`, { cause });
    await pause(STEP_MS);
  }
}
