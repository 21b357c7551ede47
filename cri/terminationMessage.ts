/** Locates a container's termination message (C22) and extracts the last lines of a log. */
import { posix } from 'node:path';
import { parseLogLine } from '../host/logs/logLine.ts';
import { hasNeverStarted } from '../kubernetes/lifecycle/restart.ts';
import { TERMINATION_MESSAGE_PATH_ANNOTATION, TERMINATION_MESSAGE_POLICY_ANNOTATION } from './config/labels.ts';
import type { ContainerStatus } from './generated/runtime.ts';

export interface TerminationMessageSource {
  /** Host path of the termination log. */
  readonly file?: string;
  /**
   * Host path of the container log, whose last lines are used if the file is empty. Defined only if the container
   * failed and its policy is FallbackToLogsOnError.
   */
  readonly log?: string;
}

/**
 * Returns where to read the termination message of a container. The result is derived from the runtime's status, so it
 * is available after a restart of the agent.
 */
export function terminationMessageSource(status: ContainerStatus): TerminationMessageSource {
  const { annotations, mounts, exitCode, reason, logPath } = status;
  const path = annotations[TERMINATION_MESSAGE_PATH_ANNOTATION];
  const mount = path ? mounts.find(({ containerPath }) => containerPath === posix.resolve('/', path)) : undefined;
  const fallsBackToLogs = annotations[TERMINATION_MESSAGE_POLICY_ANNOTATION] === 'FallbackToLogsOnError';
  // A container that failed to start has no log.
  const hasLog = exitCode !== 0 && !hasNeverStarted(reason);
  return {
    ...(mount ? { file: mount.hostPath } : {}),
    ...(fallsBackToLogs && hasLog && logPath ? { log: logPath } : {}),
  };
}

const NEWLINE = 10;

/**
 * Returns the contents of the last `lines` lines of a CRI log, with stdout and stderr combined and partial lines
 * joined.
 */
export function takeLastLogLines(log: Buffer, lines: number): Buffer {
  const contents = splitLines(log)
    .slice(-lines)
    // Return a line without a header as it is, because it is the end of a line whose start was not read.
    .map((line) => parseLogLine(line)?.messageText ?? line);
  return Buffer.concat(contents);
}

function splitLines(log: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let lineStart = 0; lineStart < log.length; ) {
    const end = log.indexOf(NEWLINE, lineStart);
    const nextLineStart = end < 0 ? log.length : end + 1;
    lines.push(log.subarray(lineStart, nextLineStart));
    lineStart = nextLineStart;
  }
  return lines;
}
