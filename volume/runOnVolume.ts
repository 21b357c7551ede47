/**
 * Accesses volumes by running separate programs, so that an unresponsive file system blocks only the program and not
 * the agent.
 */

import { unlessAborted } from '../base/async/unlessAborted.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { ProgramFailure, runProgram } from '../host/program.ts';

interface VolumeProgram {
  /**
   * Paths that the program accesses. The program is not started while an earlier program hangs on one of these paths,
   * because it would probably hang as well.
   */
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
  readonly input?: string;
  /** File descriptor of this process that the program inherits as `PASSED_FD`. */
  readonly passedFd?: number;
}

const TIMEOUT_MS = 30_000;

/** Promises that resolve once programs that failed or were abandoned have exited, keyed by path. */
const pendingExits = new Map<string, Promise<unknown>>();

/**
 * Runs a program of the host and returns its standard output. The timeout is 30 s. The program is killed when the
 * signal aborts.
 */
export async function runOnVolume(program: string, args: readonly string[], options: VolumeProgram): Promise<string> {
  const { paths, signal, ...programOptions } = options;
  for (const path of paths) await waitForEarlierExit(path, signal);
  const { promise: exited, resolve: onExit } = Promise.withResolvers<void>();
  try {
    return await runProgram(program, args, { ...programOptions, signal, timeoutMs: TIMEOUT_MS, onExit });
  } catch (error) {
    for (const path of paths) recordPendingExit(path, exited);
    if (error instanceof ProgramFailure && error.hasTimedOut) throw timeoutError(program, error);
    throw error;
  }
}

function recordPendingExit(path: string, programExit: Promise<void>): void {
  const allExits = Promise.all([pendingExits.get(path), programExit]);
  pendingExits.set(path, allExits);
  void allExits.then(() => {
    if (pendingExits.get(path) === allExits) pendingExits.delete(path);
  });
}

/**
 * Waits until an abandoned program has exited. Fails after a timeout, because a program that hangs in the kernel may
 * not react to any signal.
 */
async function waitForEarlierExit(path: string, signal: AbortSignal): Promise<void> {
  const earlierExit = pendingExits.get(path);
  if (earlierExit === undefined) return;
  const timeLimit = startTimeLimit(TIMEOUT_MS);
  try {
    await unlessAborted(earlierExit, AbortSignal.any([signal, timeLimit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`an earlier attempt still hangs in the kernel at ${path}`, { cause: error });
  } finally {
    timeLimit.clear();
  }
}

const timeoutError = (program: string, cause: unknown): Error =>
  new Error(`${program} timed out after ${TIMEOUT_MS / 1_000} s`, { cause });
