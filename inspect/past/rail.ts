/** Computes the rail, i.e. the overview of a recording over time, from the headers of the recording's gzip members. */
import type { Member } from '../../recording/recordingFile.ts';
import type { Stretch } from '../../recording/stretches.ts';
import type { Rail, Snapshot } from '../protocol.ts';

/** Maximum number of bars in the rail. Each bar covers a whole number of seconds. */
const MAX_BUCKETS = 240;

/**
 * Returns the overview, or undefined if the recording is empty. `now` is the end of a recording that is still being
 * written.
 */
export function createRail(members: readonly Member[], stretches: readonly Stretch[], now?: number): Rail | undefined {
  const recordedRange = timeRange(members, stretches);
  if (recordedRange === undefined) return undefined;
  const { from } = recordedRange;
  const to = Math.max(from + 1_000, now ?? 0, recordedRange.to);
  const bucketMs = Math.max(1_000, Math.ceil((to - from) / MAX_BUCKETS / 1_000) * 1_000);
  const counts = new Array<number>(Math.ceil((to - from) / bucketMs)).fill(0);
  // Time of the earliest failure in each bar, by the bar's index.
  const earliestFailures = new Map<number, number>();
  for (const { at, entries, failures: failed } of members) {
    // Assign an entry at the very end of the range to the last bar.
    const bucketIndex = Math.min(Math.floor((at - from) / bucketMs), counts.length - 1);
    if (bucketIndex < 0) continue;
    counts[bucketIndex] = (counts[bucketIndex] ?? 0) + entries;
    if (failed > 0) earliestFailures.set(bucketIndex, Math.min(at, earliestFailures.get(bucketIndex) ?? at));
  }
  const failureMarks = [...earliestFailures.values()].sort((left, right) => left - right);
  return { from, to, bucketMs, counts, failures: failureMarks, restarts: agentStartTimes(stretches) };
}

/**
 * Returns the time range from the earliest keyframe to the start of the latest gzip member of the recording. Undefined
 * if there is no keyframe. Members can be out of chronological order, because the clock may have been adjusted
 * backwards.
 */
export function timeRange(members: readonly Member[], stretches: readonly Stretch[]): Snapshot['recorded'] {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { replayStarts } of stretches) for (const { at } of replayStarts) from = Math.min(from, at);
  for (const { at } of members) to = Math.max(to, at);
  return from > to ? undefined : { from, to };
}

/** Returns the times at which agents were started. */
function agentStartTimes(stretches: readonly Stretch[]): number[] {
  const seenAgentIds = new Set<string>();
  return stretches.flatMap(({ life, replayStarts: [first] }) => {
    if (seenAgentIds.has(life) || first === undefined) return [];
    seenAgentIds.add(life);
    return [first.at];
  });
}
