/** Measures the disk usage of several directory trees with time limits. */
import { messageOf } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { type DiskUsage, measureDiskUsage } from './diskUsage.ts';

/** Usage of a tree, or the reason why it is unknown. */
export type UsageResult = DiskUsage | { readonly failure: string };

interface WalkLimits {
  readonly perTreeMs: number;
  readonly totalMs: number;
}

const LIMITS: WalkLimits = { perTreeMs: 20_000, totalMs: 60_000 };

/**
 * Measures the trees sequentially and returns the results in the same order. Trees for which no time is left have
 * failed.
 */
export async function measureDiskUsages(
  paths: readonly string[],
  { perTreeMs, totalMs } = LIMITS,
): Promise<UsageResult[]> {
  const totalLimit = startTimeLimit(totalMs);
  const results: UsageResult[] = [];
  for (const path of paths) {
    const treeLimit = startTimeLimit(perTreeMs);
    const signal = AbortSignal.any([totalLimit.signal, treeLimit.signal]);
    results.push(await measureDiskUsage(path, signal).catch((error: unknown) => ({ failure: messageOf(error) })));
    treeLimit.clear();
  }
  totalLimit.clear();
  return results;
}
