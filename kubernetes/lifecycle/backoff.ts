/** Exponential back-off from the base delay to the maximum delay. */
export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

const crashBackOff: BackOff = { baseMs: 10_000, maxMs: 300_000 };
export const pullBackOff: BackOff = { baseMs: 10_000, maxMs: 300_000 };
export const volumeBackOff: BackOff = { baseMs: 500, maxMs: 122_000 };

const LONG_RUN_MS = 600_000;

/**
 * Returns the delay that follows `previousMs`, doubled up to the maximum. Returns the base delay if there was no
 * previous delay.
 */
export function nextBackOff(previousMs: number, { baseMs, maxMs }: BackOff): number {
  return Math.min(maxMs, previousMs <= 0 ? baseMs : previousMs * 2);
}

/**
 * Returns the delay between `finishedAt` and the restart of a container (C7). The delay is 0 for the first restart and
 * after a run of more than 600 s. Otherwise it doubles from the base to the maximum. Pass the result as
 * `previousDelayMs` to the next call. `startedAt` is 0 for a container that could not be started.
 */
export function crashLoopBackOff(
  input: { previousDelayMs?: number; startedAt?: number; finishedAt: number } & Partial<BackOff>,
): number {
  const { previousDelayMs, startedAt, finishedAt, baseMs = crashBackOff.baseMs, maxMs = crashBackOff.maxMs } = input;
  const hasStarted = startedAt !== undefined && startedAt > 0;
  const isLongRun = hasStarted && finishedAt - startedAt > LONG_RUN_MS;
  return previousDelayMs === undefined || isLongRun ? 0 : nextBackOff(previousDelayMs, { baseMs, maxMs });
}
