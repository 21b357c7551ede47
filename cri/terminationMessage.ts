/** Where an ended container's last words lie (C22), and how a log's lines are read. */
import { posix } from 'node:path';
import { logLine } from '../host/logs/logLine.ts';
import { neverBegan } from '../kubernetes/lifecycle/restart.ts';
import type { ContainerStatus } from './generated/runtime.ts';
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from './labels.ts';

export interface TerminationMessagePlace {
  /** The host's path of its termination file. */
  readonly file?: string;
  /** The log whose end counts when the file is empty: only after a failure, and where the policy asks for it. */
  readonly log?: string;
}

/** Taken from what the runtime keeps of the container, so that it is known after a restart of the agent too. */
export function terminationMessagePlace(status: ContainerStatus): TerminationMessagePlace {
  const { annotations, mounts, exitCode, reason, logPath } = status;
  const path = annotations[TERMINATION_MESSAGE_PATH];
  const mount = path ? mounts.find(({ containerPath }) => containerPath === posix.resolve('/', path)) : undefined;
  const fallsBack = annotations[TERMINATION_MESSAGE_POLICY] === 'FallbackToLogsOnError';
  // What could not even be started has no log.
  const hasLog = exitCode !== 0 && !neverBegan(reason);
  return {
    ...(mount ? { file: mount.hostPath } : {}),
    ...(fallsBack && hasLog && logPath ? { log: logPath } : {}),
  };
}

const NEWLINE = 10;

/** What the last `lines` of a log in the CRI's format say, both streams together: parts of a line are put together. */
export function loggedText(log: Buffer, lines: number): Buffer {
  const parts = linesOf(log)
    .slice(-lines)
    // A line that does not begin as one is the end of one that is longer than what was read.
    .map((line) => logLine(line)?.text ?? line);
  return Buffer.concat(parts);
}

function linesOf(log: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < log.length; ) {
    const end = log.indexOf(NEWLINE, start);
    const next = end < 0 ? log.length : end + 1;
    lines.push(log.subarray(start, next));
    start = next;
  }
  return lines;
}
