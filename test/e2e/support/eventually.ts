import { setTimeout as pause } from 'node:timers/promises';

/** Far more than anything here takes, so that a busy machine fails no test. */
const LIMIT_MS = 60_000;
const STEP_MS = 50;

/** Thrown by a look that sees what can not become right any more. */
export class Hopeless extends Error {}

/**
 * Looks again and again until the look gives something other than undefined or false, and gives that. What a look
 * throws means "not yet", unless it is `Hopeless`; it is the cause of the failure when the time is over.
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
      const seen = await look();
      // What is left of T is what the signature promises.
      if (seen !== undefined && seen !== false) return seen as Exclude<T, undefined | false>;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    if (performance.now() > until) throw new Error(`it did not come to this: ${what}`, { cause });
    await pause(STEP_MS);
  }
}
