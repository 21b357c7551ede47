/** The runs of a container that have ended, for the table of what it tried. */

import { humanDuration } from '../../base/duration.ts';
import type { ActorHistory, ShownActor, TriedRun } from '../../inspect/protocol.ts';

/** The runs, the last first, with what is said of all. */
export interface Tried {
  readonly runs: readonly TriedRun[];
  /** `6 runs, none over 2s` */
  readonly summary: string;
  /** What the others are drawn against; never 0. */
  readonly longestMs: number;
}

/** So many runs are shown; the summary counts all. */
const SHOWN = 4;

/** All of them, the last first, with how long each waited; the last one still waits. */
export function lastFirst(
  { tried }: Pick<ActorHistory, 'tried'>,
  actor: Pick<ShownActor, 'tags' | 'since' | 'until'> | undefined,
): TriedRun[] {
  const waits = actor?.tags.includes('retrying') && actor.until !== undefined ? actor.until - actor.since : undefined;
  const all = tried.toSorted((a, b) => b.run - a.run);
  return all.map((run, at) =>
    at === 0 && run.waitedMs === undefined && waits !== undefined ? { ...run, waitedMs: waits } : run,
  );
}

/** What the table of the runs shows. */
export function triedRuns(
  detail: Pick<ActorHistory, 'tried'>,
  actor: Pick<ShownActor, 'tags' | 'since' | 'until'> | undefined,
): Tried {
  const all = lastFirst(detail, actor);
  const longest = Math.max(0, ...all.map(({ ranMs }) => ranMs));
  const runs = all.slice(0, SHOWN);
  return {
    runs,
    summary: `${all.length} ${all.length === 1 ? 'run' : 'runs'}, ${all.length === 1 ? 'it took' : 'none over'} ${humanDuration(Math.ceil(longest / 1_000) * 1_000)}`,
    longestMs: Math.max(1, ...runs.map(({ waitedMs = 0 }) => waitedMs)),
  };
}
