import type { Readable } from 'node:stream';
import { NodeFailure } from '../../base/failure.ts';
import { ProgramFailure, runProgram } from '../../host/program.ts';

/** None of the programs that a private containerd needs takes that long, unless it hangs. */
const LONGEST_RUN_MS = 120_000;

interface RunOptions {
  readonly signal: AbortSignal;
  readonly input?: Buffer | string | Readable;
  /** Two minutes by default, in milliseconds. */
  readonly limitMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program for a private containerd and gives its standard output; one that does not end well is a
 * `RuntimeUnavailable` that names the program with its arguments and says why.
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  // They clean up after themselves when they are asked to end.
  const given = { limitMs: LONGEST_RUN_MS, ...options, killSignal: 'SIGTERM' as const };
  return runProgram(program, args, given).catch((cause: unknown) => {
    if (!(cause instanceof ProgramFailure)) throw cause;
    throw new NodeFailure('RuntimeUnavailable', `${program} ${args.join(' ')}: ${cause.message}`, { cause });
  });
}
