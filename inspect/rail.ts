/** All of a recording at a glance, from what the heads of its members say. */
import type { Member } from '../recording/recordingFile.ts';
import type { Stretch } from '../recording/stretches.ts';
import type { Rail, Snapshot } from './protocol.ts';

/** So many bars at most, each of a whole number of seconds. */
const BUCKETS = 240;

/** Undefined where nothing is recorded; `now` ends what still goes on. */
export function railOf(members: readonly Member[], stretches: readonly Stretch[], now?: number): Rail | undefined {
  const span = spanOf(members, stretches);
  if (span === undefined) return undefined;
  const { from } = span;
  const to = Math.max(from + 1_000, now ?? 0, span.to);
  const bucketMs = Math.max(1_000, Math.ceil((to - from) / BUCKETS / 1_000) * 1_000);
  const counts = new Array<number>(Math.ceil((to - from) / bucketMs)).fill(0);
  // One in each bar is seen, however many there are.
  const failures = new Map<number, number>();
  for (const { at, entries, failures: failed } of members) {
    // What happened at the very end belongs to the last one.
    const bucket = Math.min(Math.floor((at - from) / bucketMs), counts.length - 1);
    if (bucket < 0) continue;
    counts[bucket] = (counts[bucket] ?? 0) + entries;
    if (failed > 0) failures.set(bucket, Math.min(at, failures.get(bucket) ?? at));
  }
  const marks = [...failures.values()].sort((one, other) => one - other);
  return { from, to, bucketMs, counts, failures: marks, restarts: livesOf(stretches) };
}

/**
 * From the first moment that can be gone back to, to when the last member began; undefined where there is none. Whoever
 * recorded it may have set its clock back: the first one that was written is not always the earliest.
 */
export function spanOf(members: readonly Member[], stretches: readonly Stretch[]): Snapshot['recorded'] {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { beginnings } of stretches) for (const { at } of beginnings) from = Math.min(from, at);
  for (const { at } of members) to = Math.max(to, at);
  return from > to ? undefined : { from, to };
}

/** When each life of an agent is first seen. */
function livesOf(stretches: readonly Stretch[]): number[] {
  const seen = new Set<string>();
  return stretches.flatMap(({ life, beginnings: [first] }) => {
    if (seen.has(life) || first === undefined) return [];
    seen.add(life);
    return [first.at];
  });
}
