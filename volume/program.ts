/** Programs that touch volumes: a file system that does not answer holds up such a process, and nobody else. */
import { startLimit } from '../base/limit.ts';
import { unlessAborted } from '../base/unlessAborted.ts';
import { ProgramFailure, runProgram } from '../host/program.ts';

interface VolumeProgram {
  /** The places that it touches. Until one that was given up has ended, no other is run at one of its places: each might hang as well. */
  readonly at: readonly string[];
  readonly signal: AbortSignal;
  readonly input?: string;
  /** A handle that it has as `PASSED_FD`. */
  readonly passedFd?: number;
}

const LIMIT_MS = 30_000;

/** When those that were given up, or have failed, will have ended, by their places. */
const ending = new Map<string, Promise<unknown>>();

/** Runs a program of the host to its end and gives its standard output; it has 30 s, and ends with its signal. */
export async function runOnVolume(program: string, args: readonly string[], options: VolumeProgram): Promise<string> {
  const { at, signal, ...given } = options;
  for (const place of at) await ended(place, signal);
  const { promise: exited, resolve: onExit } = Promise.withResolvers<void>();
  try {
    return await runProgram(program, args, { ...given, signal, limitMs: LIMIT_MS, onExit });
  } catch (error) {
    for (const place of at) keep(place, exited);
    if (error instanceof ProgramFailure && error.isLate) throw noAnswer(program, error);
    throw error;
  }
}

function keep(at: string, exited: Promise<void>): void {
  const all = Promise.all([ending.get(at), exited]);
  ending.set(at, all);
  void all.then(() => {
    if (ending.get(at) === all) ending.delete(at);
  });
}

/** Waits for an earlier one that was given up: what hangs in the kernel may not end by any signal. */
async function ended(at: string, signal: AbortSignal): Promise<void> {
  const earlier = ending.get(at);
  if (earlier === undefined) return;
  const limit = startLimit(LIMIT_MS);
  try {
    await unlessAborted(earlier, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`an earlier attempt still hangs in the kernel at ${at}`, { cause: error });
  } finally {
    limit.end();
  }
}

const noAnswer = (program: string, cause: unknown): Error =>
  new Error(`${program} timed out after ${LIMIT_MS / 1_000} s`, { cause });
