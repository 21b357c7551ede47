/** What a failed container said last, as its log file has it: read when somebody asks for it, and kept nowhere. */
import { neverBegan } from '../lifecycle/restart.ts';
import type { ContainerView, PodView, TerminatedRun } from './view.ts';

export interface LogTail {
  /** The host's path of the log. */
  readonly file: string;
  /** Its last lines; none where nothing was written. */
  readonly lines: readonly string[];
}

/** By the containers' names. */
export type LogTails = ReadonlyMap<string, LogTail>;

/** The run of a container that failed last, and which it was; undefined when none did that could write anything. */
export function failedRun({
  now,
  last,
  restartCount,
}: ContainerView): { number: number; run: TerminatedRun } | undefined {
  const run = now.kind === 'terminated' ? now.run : last;
  const couldWrite = run !== undefined && run.exitCode !== 0 && !neverBegan(run.reason);
  if (!couldWrite) return undefined;
  return { run, number: now.kind === 'running' ? restartCount - 1 : restartCount };
}

function withLine(run: TerminatedRun, { lines }: LogTail): TerminatedRun {
  const line = lines.findLast((each) => each.trim() !== '');
  return run.message || line === undefined ? run : { ...run, message: line };
}

/** The view of a container with the last line of its log as what its failed run has said, where that left no message. */
function said(container: ContainerView, tail: LogTail | undefined): ContainerView {
  const { now, last } = container;
  if (tail === undefined) return container;
  if (now.kind === 'terminated') return { ...container, now: { ...now, run: withLine(now.run, tail) } };
  return last ? { ...container, last: withLine(last, tail) } : container;
}

/** The view of a pod whose containers say what their logs end with. */
export const withLogTails = (view: PodView, tails: LogTails): PodView => ({
  ...view,
  containers: view.containers.map((container) => said(container, tails.get(container.name))),
});
