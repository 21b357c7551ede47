/** All of a recording at a glance, from what the heads of its members say. */
import type { Member } from '../recording/recordingFile.ts';
import type { Stretch } from '../recording/stretches.ts';
import type { Rail } from './protocol.ts';

/** So many bars at most, each of a whole number of seconds. */
const BUCKETS = 240;

/** Undefined where nothing is recorded; `now` ends what still goes on. */
export function railOf(members: readonly Member[], stretches: readonly Stretch[], now?: number): Rail | undefined {
  const moments = members.map(({ at }) => at);
  const from = stretches[0]?.beginnings[0]?.at;
  if (from === undefined) return undefined;
  const to = Math.max(from + 1_000, now ?? 0, ...moments);
  const bucketMs = Math.max(1_000, Math.ceil((to - from) / BUCKETS / 1_000) * 1_000);
  const counts = new Array<number>(Math.ceil((to - from) / bucketMs)).fill(0);
  for (const { at, entries } of members) {
    // What happened at the very end belongs to the last one.
    const bucket = Math.min(Math.floor((at - from) / bucketMs), counts.length - 1);
    if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + entries;
  }
  return {
    ...{ from, to, bucketMs, counts },
    failures: members.filter(({ failures }) => failures > 0).map(({ at }) => at),
    restarts: livesOf(stretches),
  };
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
