/** Measures the disk usage of several directory trees with time limits. */

import { messageOf } from '../../base/failure.ts';
import { systemClock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { type DiskUsage, measureDiskUsage } from './diskUsage.ts';

/** Usage of a tree, or the reason why it is unknown. */
export type UsageResult = DiskUsage | { readonly failure: string };

export type TimedUsage = UsageResult & {
  /** Duration of the measurement in milliseconds. */
  readonly ms: number;
};

interface WalkLimits {
  readonly perTreeTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

const DEFAULT_LIMITS: WalkLimits = { perTreeTimeoutMs: 20_000, totalTimeoutMs: 60_000 };

/**
 * Measures the trees sequentially and returns the results in the same order. A tree that is not measured before the
 * time limit is reported as failed.
 */
export async function measureDiskUsages(
  paths: readonly string[],
  { perTreeTimeoutMs, totalTimeoutMs } = DEFAULT_LIMITS,
): Promise<TimedUsage[]> {
  const totalLimit = startTimeLimit(totalTimeoutMs);
  const results: TimedUsage[] = [];
  for (const path of paths) {
    const treeLimit = startTimeLimit(perTreeTimeoutMs);
    const signal = AbortSignal.any([totalLimit.signal, treeLimit.signal]);
    const startedAt = systemClock.monotonic();
    const usage = await measureDiskUsage(path, signal).catch((error: unknown) => ({ failure: messageOf(error) }));
    results.push({ ...usage, ms: systemClock.monotonic() - startedAt });
    treeLimit.clear();
  }
  totalLimit.clear();
  return results;
}
