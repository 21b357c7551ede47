import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../base/failure.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';

/** Directories to search in addition to PATH, because a plain `su` omits the system directories. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

const INHERITED_VARIABLES_PATTERN = /^(path|home|tmpdir|(https?|all|no)_proxy)$/i;

/**
 * Returns the environment for child processes, without the variables that npm, the shell and a service manager's socket
 * activation set.
 */
export function programEnvironment(): Record<string, string> {
  const inheritedVariables = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value !== undefined && INHERITED_VARIABLES_PATTERN.test(name) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(inheritedVariables), PATH: searchPath().join(':') };
}

function searchPath(): string[] {
  const ownDirectories = (process.env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'));
  return [...new Set([...ownDirectories, ...SYSTEM_DIRECTORIES])];
}

/** Returns the path of a program, or undefined if it is not installed. */
export function findProgram(name: string): Promise<string | undefined> {
  return findFirstExecutable(searchPath().map((directory) => join(directory, name)));
}

/** Returns the first of the files that is executable. */
export async function findFirstExecutable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return file;
  }
  return undefined;
}

/** File descriptor under which a program inherits `passedFd`. It is the first one after the standard streams. */
export const PASSED_FD = 3;

interface ProgramOptions {
  /** Aborting this signal kills the program, and the call rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Timeout in milliseconds, after which the program is killed. */
  readonly timeoutMs: number;
  /** Signal for killing the program. Defaults to SIGKILL; use SIGTERM if the program must clean up. */
  readonly killSignal?: NodeJS.Signals;
  /** Standard input of the program. If undefined, the program has no input. */
  readonly input?: Buffer | string | Readable;
  readonly environment?: Readonly<Record<string, string>>;
  /** File descriptor of this process that the program inherits as `PASSED_FD`. */
  readonly passedFd?: number;
  /** Maximum size of the standard output in bytes. A program that writes more is killed and treated as failed. */
  readonly maxOutputBytes?: number;
  /** Whether to kill the program's child processes as well. */
  readonly killsChildren?: boolean;
  /**
   * Called when the process has exited. A process that hangs in the kernel may exit long after the call has rejected.
   */
  readonly onExit?: () => void;
}

/** Failure of a program that exited with an error, was killed, or could not be started. */
export class ProgramFailure extends Error {
  override readonly name = 'ProgramFailure';
  /** Start of the standard error, trimmed. */
  readonly stderr: string;
  /** Whether the program was killed because of the timeout. */
  readonly hasTimedOut: boolean;
  /** Whether the program was killed because of too much output. */
  readonly exceededOutputLimit: boolean;
  /** Exit code of the program. Undefined if the program was killed by a signal or could not be started. */
  readonly exitCode: number | undefined;

  constructor(message: string, { stderr, hasTimedOut, exceededOutputLimit = false, exitCode, cause }: FailureDetails) {
    super(message, { cause });
    this.stderr = stderr;
    this.hasTimedOut = hasTimedOut;
    this.exceededOutputLimit = exceededOutputLimit;
    this.exitCode = exitCode;
  }
}

interface FailureDetails {
  readonly stderr: string;
  readonly hasTimedOut: boolean;
  readonly exceededOutputLimit?: boolean;
  readonly exitCode?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Maximum size of the recorded standard error in bytes. Longer output is truncated, because a program may print a line
 * for each of a million files.
 */
const MAX_STDERR_BYTES = 64 * 1024;
/**
 * Time limit in milliseconds for reading the remaining output of a program that has exited (`WaitDelay` of Go's
 * `os/exec`).
 */
const OUTPUT_CLOSE_DELAY_MS = 1_000;

let runningCount = 0;

/** Returns the number of programs that `runProgram` is waiting for. */
export const countRunningPrograms = (): number => runningCount;

/**
 * Runs a program and returns its standard output. If it fails, rejects with a `ProgramFailure` whose message is its
 * standard error or, if that is empty, its exit status. The program runs in its own session, because Ctrl-C in the
 * terminal would otherwise interrupt it as well as this process, which handles Ctrl-C itself.
 */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { signal, timeoutMs, input, onExit, maxOutputBytes } = options;
  signal.throwIfAborted();
  const [timeout, outputLimit] = [startTimeLimit(timeoutMs), new AbortController()];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const killTrigger = AbortSignal.any([signal, timeout.signal, outputLimit.signal]);
  let child: ChildProcess;
  try {
    child = spawnProgram(program, args, options, killTrigger);
  } catch (cause) {
    // `spawn` throws some errors, such as ENOMEM, and reports others through the `error` event.
    timeout.clear();
    onExit?.();
    throw new ProgramFailure(messageOf(cause), { stderr: '', hasTimedOut: false, cause });
  }
  const [readStdout, readStderr] = [
    collectOutput(child.stdout, maxOutputBytes, () => outputLimit.abort()),
    collectOutput(child.stderr, MAX_STDERR_BYTES),
  ];
  const rejectWithFailure = (description: string, details: Pick<FailureDetails, 'exitCode' | 'cause'> = {}) => {
    // A process that hangs in the kernel and ignores the signal must not keep this process alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    if (signal.aborted) return reject(signal.reason);
    const [stderr, hasTimedOut, exceededOutputLimit] = [
      readStderr().trim(),
      timeout.signal.aborted,
      outputLimit.signal.aborted,
    ];
    const status = hasTimedOut ? `timed out after ${timeoutMs / 1_000} s` : description;
    const problem = exceededOutputLimit ? `wrote more than ${maxOutputBytes} bytes` : stderr || status;
    reject(new ProgramFailure(problem, { stderr, hasTimedOut, exceededOutputLimit, ...details }));
  };
  if (onExit !== undefined) child.once(child.pid === undefined ? 'error' : 'exit', onExit);
  child.on('error', (error) => rejectWithFailure(error.message, { cause: error }));
  child.once('exit', () => closeOutput(child));
  child.on('close', (code, name) => {
    if (code === 0 && !outputLimit.signal.aborted) resolve(readStdout());
    else if (code === null) rejectWithFailure(`killed by ${name}`);
    else rejectWithFailure(`failed with exit code ${code}`, { exitCode: code });
  });
  // Ignore write errors. If a program exits before it has read its input, the exit code reports the problem.
  child.stdin?.on('error', () => {});
  if (input instanceof Readable) writeInput(input, child);
  else child.stdin?.end(input);
  return countWhileRunning(promise).finally(timeout.clear);
}

/**
 * Writes the input to the program. Stops early if the program has exited or if the stream fails. If the stream fails,
 * the program reports that its input is incomplete.
 */
function writeInput(input: Readable, { stdin }: ChildProcess): void {
  if (stdin !== null) pipeline(input, stdin).catch(() => {});
}

function spawnProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
  killTrigger: AbortSignal,
): ChildProcess {
  const { killSignal = 'SIGKILL', input, environment, passedFd, killsChildren = false } = options;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe', ...(passedFd === undefined ? [] : [passedFd])];
  // Kill the group before the program itself, while the process ID of the program still identifies the group.
  if (killsChildren) killTrigger.addEventListener('abort', () => killGroup(child.pid, killSignal), { once: true });
  const child = spawn(program, args, {
    signal: killTrigger,
    killSignal,
    detached: true,
    stdio,
    env: { ...programEnvironment(), LC_ALL: 'C', ...environment },
  });
  return child;
}

/**
 * Closes the output of an exited program after a delay, because its child processes may keep the output open
 * indefinitely.
 */
function closeOutput(child: ChildProcess): void {
  const closeDelay = startTimeLimit(OUTPUT_CLOSE_DELAY_MS);
  const close = () => {
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  };
  closeDelay.signal.addEventListener('abort', close, { once: true });
  child.once('close', closeDelay.clear);
}

function countWhileRunning<T>(completion: Promise<T>): Promise<T> {
  runningCount += 1;
  return completion.finally(() => {
    runningCount -= 1;
  });
}

/** Kills the process group of a program, which includes its child processes unless they have left the group. */
function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Ignore the error, because the group no longer exists.
  }
}

function collectOutput(
  stream: Readable | null,
  maxBytes = Number.POSITIVE_INFINITY,
  onExceeded = () => {},
): () => string {
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (totalBytes < maxBytes) chunks.push(chunk);
    totalBytes += chunk.length;
    if (totalBytes > maxBytes) onExceeded();
  });
  return () => Buffer.concat(chunks).toString();
}
