/** What a failed container said last, as its log file has it: read when somebody asks for it, and kept nowhere. */
import { neverBegan } from '../kubernetes/lifecycle/restart.ts';
import type { TerminatedRun } from '../kubernetes/status/view.ts';
import type { PodActors, SeenContainer } from './seenPod.ts';

export interface LogTail {
  /** The host's path of the log. */
  readonly file: string;
  /** Its last lines; none where nothing was written. */
  readonly lines: readonly string[];
}

/** By the containers' names. */
export type LogTails = ReadonlyMap<string, LogTail>;

/** Which run of the container it was that failed last; undefined when none did that could write anything. */
export function failedRun({ actor: { lastRun }, status }: SeenContainer): number | undefined {
  if (lastRun === undefined || lastRun.exitCode === 0 || neverBegan(lastRun.reason)) return undefined;
  const { restartCount = 0, state } = status ?? {};
  return state?.running ? restartCount - 1 : restartCount;
}

/** Which run of the container wrote last; undefined when none has begun. */
export function latestRun({ actor, status }: SeenContainer): number | undefined {
  const { restartCount = 0, state } = status ?? {};
  return state?.running || state?.terminated || actor.lastRun ? restartCount : undefined;
}

function withLine(run: TerminatedRun, { lines }: LogTail): TerminatedRun {
  const line = lines.findLast((each) => each.trim() !== '');
  return run.message || line === undefined ? run : { ...run, message: line };
}

/** A pod whose containers have the last line of their log as what their failed run has said, where that left no message. */
export const withLogTails = (actors: PodActors, tails: LogTails): PodActors => ({
  ...actors,
  containers: actors.containers.map((container) => {
    const { actor } = container;
    const tail = tails.get(actor.name);
    if (tail === undefined || actor.lastRun === undefined) return container;
    return { ...container, actor: { ...actor, lastRun: withLine(actor.lastRun, tail) } };
  }),
});
