/**
 * Selects the failed runs whose last log lines are shown, and adds these lines to the actors. The log lines are read on
 * demand and never cached.
 */
import { hasNeverStarted } from '../kubernetes/lifecycle/restart.ts';
import type { TerminatedRun } from '../kubernetes/status/view.ts';
import type { ContainerWithActor, PodActors } from './actors/podActors.ts';

export interface LogTail {
  /** Path of the log on the host. */
  readonly file: string;
  /** The last lines. Empty if the container wrote nothing. */
  readonly lines: readonly string[];
}

/** Log tails keyed by container name. */
export type LogTails = ReadonlyMap<string, LogTail>;

/** Returns the number of the last run that failed. Undefined if no run failed or the failed run never started. */
export function lastFailedRun({ actor: { lastRun }, status }: ContainerWithActor): number | undefined {
  if (lastRun === undefined || lastRun.exitCode === 0 || hasNeverStarted(lastRun.reason)) return undefined;
  const { restartCount = 0, state } = status ?? {};
  return state?.running ? restartCount - 1 : restartCount;
}

/** Returns the number of the latest run. Undefined if no run has started. */
export function latestRun({ actor, status }: ContainerWithActor): number | undefined {
  const { restartCount = 0, state } = status ?? {};
  return state?.running || state?.terminated || actor.lastRun ? restartCount : undefined;
}

function withLastLine(run: TerminatedRun, { lines }: LogTail): TerminatedRun {
  const line = lines.findLast((each) => each.trim() !== '');
  return run.message || line === undefined ? run : { ...run, message: line };
}

/** Uses the last log line as the termination message of each failed run that has no message. */
export const withLogTails = (actors: PodActors, tails: LogTails): PodActors => ({
  ...actors,
  containers: actors.containers.map((container) => {
    const { actor } = container;
    const logTail = tails.get(actor.name);
    if (logTail === undefined || actor.lastRun === undefined) return container;
    return { ...container, actor: { ...actor, lastRun: withLastLine(actor.lastRun, logTail) } };
  }),
});
