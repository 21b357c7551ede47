/** Runs a long-running program and reports each line of its output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ProgramFailure, programEnvironment } from './program.ts';

interface LineProgramOptions {
  /** Aborting this signal terminates the program with SIGTERM. */
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
  readonly onErrorLine?: (line: string) => void;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program until the signal aborts. Its standard input is a pipe that closes when this process exits. Resolves
 * when the program has exited because of the signal. Rejects with a `ProgramFailure` if it exits for any other reason.
 */
export async function runLineProgram(
  program: string,
  args: readonly string[],
  { signal, onLine, onErrorLine = () => {}, environment }: LineProgramOptions,
): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    env: { ...programEnvironment(), LC_ALL: 'C', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Start the program in its own session, so that Ctrl-C in the terminal does not terminate it before this process.
    detached: true,
    killSignal: 'SIGTERM',
    signal,
  });
  // Ignore write errors, which occur if the program has exited. The exit event reports the exit.
  child.stdin.on('error', () => {});
  let lastErrorLine = '';
  createInterface(child.stdout).on('line', onLine);
  createInterface(child.stderr).on('line', (line) => {
    lastErrorLine = line;
    onErrorLine(line);
  });
  try {
    await once(child, 'close');
  } catch (cause) {
    if (signal.aborted) return;
    throw new ProgramFailure(`${program} cannot be run`, { stderr: '', hasTimedOut: false, cause });
  } finally {
    child.stdin.end();
  }
  if (signal.aborted) return;
  const message = lastErrorLine || `${program} exited with ${child.signalCode ?? `exit code ${child.exitCode}`}`;
  throw new ProgramFailure(message, { stderr: lastErrorLine, hasTimedOut: false });
}
