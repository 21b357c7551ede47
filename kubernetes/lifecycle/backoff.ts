/** Delays in milliseconds: the first one, and what doubling stops at. */
export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

const crashBackOff: BackOff = { baseMs: 10_000, maxMs: 300_000 };
export const pullBackOff: BackOff = { baseMs: 10_000, maxMs: 300_000 };
export const volumeBackOff: BackOff = { baseMs: 500, maxMs: 122_000 };

const LONG_RUN_MS = 600_000;

/** The delay after `previousMs`: doubled up to the maximum; the base when there was none. */
export function nextBackOff(previousMs: number, { baseMs, maxMs }: BackOff): number {
  return Math.min(maxMs, previousMs <= 0 ? baseMs : previousMs * 2);
}

/**
 * How long after `finishedAt` a container restarts (C7): at once for the first time and after a run of more than
 * 600 s, then the base doubling to the maximum. The result is the `previousDelayMs` of the next call. `startedAt` is 0 for
 * a container that could not be started.
 */
export function crashLoopBackOff(
  input: { previousDelayMs?: number; startedAt?: number; finishedAt: number } & Partial<BackOff>,
): number {
  const { previousDelayMs, startedAt, finishedAt, baseMs = crashBackOff.baseMs, maxMs = crashBackOff.maxMs } = input;
  const hasStarted = startedAt !== undefined && startedAt > 0;
  const longRun = hasStarted && finishedAt - startedAt > LONG_RUN_MS;
  return previousDelayMs === undefined || longRun ? 0 : nextBackOff(previousDelayMs, { baseMs, maxMs });
}
