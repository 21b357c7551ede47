import type { Readable } from 'node:stream';
import { NodeFailure } from '../../base/failure.ts';
import { ProgramFailure, runProgram } from '../../host/program.ts';

/** Default timeout of a program, in milliseconds. Only a program that hangs exceeds it. */
const DEFAULT_TIMEOUT_MS = 120_000;

interface RunOptions {
  readonly signal: AbortSignal;
  readonly input?: Buffer | string | Readable;
  /** Timeout in milliseconds. Defaults to two minutes. */
  readonly timeoutMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program for a private containerd and returns its standard output. If the program fails, rejects with
 * `RuntimeUnavailable` and a message with the command line and the reason.
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  // SIGTERM, unlike SIGKILL, allows the program to clean up.
  const programOptions = { timeoutMs: DEFAULT_TIMEOUT_MS, ...options, killSignal: 'SIGTERM' as const };
  return runProgram(program, args, programOptions).catch((cause: unknown) => {
    if (!(cause instanceof ProgramFailure)) throw cause;
    throw new NodeFailure('RuntimeUnavailable', `${program} ${args.join(' ')}: ${cause.message}`, { cause });
  });
}
