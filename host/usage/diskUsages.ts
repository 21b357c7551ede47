/** Walks several trees, each for a limited time. */
import { messageOf } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { type DiskUsage, diskUsageOf } from './diskUsage.ts';

/** What a tree takes, or why that is not known. */
export type Counted = DiskUsage | { readonly failure: string };

interface WalkLimits {
  /** Milliseconds. */
  readonly eachMs: number;
  readonly allMs: number;
}

const LIMITS: WalkLimits = { eachMs: 20_000, allMs: 60_000 };

/** One after the other, answered in their order; those for which no time is left have failed. */
export async function diskUsagesOf(paths: readonly string[], { eachMs, allMs } = LIMITS): Promise<Counted[]> {
  const all = startLimit(allMs);
  const counted: Counted[] = [];
  for (const path of paths) {
    const each = startLimit(eachMs);
    const signal = AbortSignal.any([all.signal, each.signal]);
    counted.push(await diskUsageOf(path, signal).catch((error: unknown) => ({ failure: messageOf(error) })));
    each.end();
  }
  all.end();
  return counted;
}
