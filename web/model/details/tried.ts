/** Builds the table of a container's runs. */

import { humanDuration } from '../../../base/time/duration.ts';
import type { ActorHistory, ShownActor, TriedRun } from '../../../inspect/protocol.ts';

/** The latest runs and a summary of all runs. */
export interface AttemptTable {
  readonly runs: readonly TriedRun[];
  /** Summary of all runs, e.g. `6 runs, none over 2s`. */
  readonly summary: string;
  /** Longest wait in the table, which determines the scale of the bars. At least 1. */
  readonly longestMs: number;
}

/** Maximum number of runs in the table. The summary includes all runs. */
const MAX_ROWS = 4;

/**
 * Returns all runs from latest to earliest, each with the wait after it. The wait after the latest run is still in
 * progress.
 */
export function runsLatestFirst(
  { tried }: Pick<ActorHistory, 'tried'>,
  actor: Pick<ShownActor, 'tags' | 'since' | 'until'> | undefined,
): TriedRun[] {
  const waitingMs =
    actor?.tags.includes('retrying') && actor.until !== undefined ? actor.until - actor.since : undefined;
  const sortedRuns = tried.toSorted((a, b) => b.run - a.run);
  return sortedRuns.map((run, at) =>
    at === 0 && run.waitedMs === undefined && waitingMs !== undefined ? { ...run, waitedMs: waitingMs } : run,
  );
}

export function attemptTable(
  detail: Pick<ActorHistory, 'tried'>,
  actor: Pick<ShownActor, 'tags' | 'since' | 'until'> | undefined,
): AttemptTable {
  const allRuns = runsLatestFirst(detail, actor);
  const longestRunMs = Math.max(0, ...allRuns.map(({ ranMs }) => ranMs));
  const runs = allRuns.slice(0, MAX_ROWS);
  return {
    runs,
    summary: `${allRuns.length} ${allRuns.length === 1 ? 'run' : 'runs'}, ${allRuns.length === 1 ? 'it took' : 'none over'} ${humanDuration(Math.ceil(longestRunMs / 1_000) * 1_000)}`,
    longestMs: Math.max(1, ...runs.map(({ waitedMs = 0 }) => waitedMs)),
  };
}
