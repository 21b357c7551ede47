import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../base/failure.ts';
import { startLimit } from '../base/limit.ts';

/** Searched besides PATH: a plain `su` leaves the system's directories out of it. */
const systemDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

const passedOn = /^(path|home|tmpdir|(https?|all|no)_proxy)$/i;

/** The environment of the programs that run for us: nothing of npm, of a service manager's sockets, of the shell. */
export function programEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value !== undefined && passedOn.test(name) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(entries), PATH: searchPath().join(':') };
}

function searchPath(): string[] {
  const own = (process.env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'));
  return [...new Set([...own, ...systemDirectories])];
}

/** The path of a program, undefined when this host does not have it. */
export function findProgram(name: string): Promise<string | undefined> {
  return firstExecutable(searchPath().map((directory) => join(directory, name)));
}

/** The first of these files that can be executed. */
export async function firstExecutable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}

/** Where a program has the handle that it is given: the first after its standard streams. */
export const PASSED_FD = 3;

interface ProgramOptions {
  /** Ends the program; the call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds, before it is ended. */
  readonly limitMs: number;
  /** How it is ended; `SIGTERM` where it has something to clean up. */
  readonly killSignal?: NodeJS.Signals;
  /** A stream that fails ends the program's input early. */
  readonly input?: Buffer | string | Readable;
  readonly environment?: Readonly<Record<string, string>>;
  /** A handle that it has as `PASSED_FD`. */
  readonly passedFd?: number;
  /** How many bytes it may write on its standard output; one that writes more is ended, and has failed. */
  readonly mostOutput?: number;
  /** What it has started is ended with it. */
  readonly endsChildren?: boolean;
  /** Told when its process is no more: what hangs in the kernel outlives the call that gave it up. */
  readonly onExit?: () => void;
}

/** Why a program did not end well. */
export class ProgramFailure extends Error {
  override readonly name = 'ProgramFailure';
  /** What it wrote on standard error: the beginning of it, trimmed. */
  readonly stderr: string;
  /** Whether it was ended for taking too long. */
  readonly isLate: boolean;
  /** Whether it was ended for writing too much. */
  readonly isFull: boolean;
  /** Absent where it was ended by a signal, or never began. */
  readonly exitCode: number | undefined;

  constructor(message: string, { stderr, isLate, isFull = false, exitCode, cause }: Ending) {
    super(message, { cause });
    this.stderr = stderr;
    this.isLate = isLate;
    this.isFull = isFull;
    this.exitCode = exitCode;
  }
}

interface Ending {
  readonly stderr: string;
  readonly isLate: boolean;
  readonly isFull?: boolean;
  readonly exitCode?: number | undefined;
  readonly cause?: unknown;
}

/** There may be a line for each of a million files. */
const KEPT_STDERR = 64 * 1024;
/** So long what a program has written before it ended may take to arrive (`WaitDelay` of Go's `os/exec`), in milliseconds. */
const LAST_WORDS_MS = 1_000;

let running = 0;

/** How many programs run now that `runProgram` waits for. */
export const runningPrograms = (): number => running;

/**
 * Runs a program to its end and gives its standard output; else it rejects with a `ProgramFailure`, whose message is what
 * it wrote on standard error or, where that is nothing, how it ended. It has a session of its own: a terminal's Ctrl-C is
 * for us to act on, and would end it halfway.
 */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { signal, limitMs, input, onExit, mostOutput } = options;
  signal.throwIfAborted();
  const [limit, full] = [startLimit(limitMs), new AbortController()];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const ends = AbortSignal.any([signal, limit.signal, full.signal]);
  let child: ChildProcess;
  try {
    child = spawned(program, args, options, ends);
  } catch (cause) {
    // Node.js throws some refusals of the host, such as ENOMEM, and reports others by an event.
    limit.end();
    onExit?.();
    throw new ProgramFailure(messageOf(cause), { stderr: '', isLate: false, cause });
  }
  const [out, err] = [collect(child.stdout, mostOutput, () => full.abort()), collect(child.stderr, KEPT_STDERR)];
  const fail = (ending: string, how: Pick<Ending, 'exitCode' | 'cause'> = {}) => {
    // What does not even end by a signal, as in a mount that hangs, holds nothing up.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    if (signal.aborted) return reject(signal.reason);
    const [stderr, isLate, isFull] = [err().trim(), limit.signal.aborted, full.signal.aborted];
    const late = isLate ? `timed out after ${limitMs / 1_000} s` : ending;
    const problem = isFull ? `wrote more than ${mostOutput} bytes` : stderr || late;
    reject(new ProgramFailure(problem, { stderr, isLate, isFull, ...how }));
  };
  if (onExit !== undefined) child.once(child.pid === undefined ? 'error' : 'exit', onExit);
  child.on('error', (error) => fail(error.message, { cause: error }));
  child.once('exit', () => endOutput(child));
  child.on('close', (code, name) => {
    if (code === 0 && !full.signal.aborted) resolve(out());
    else if (code === null) fail(`killed by ${name}`);
    else fail(`failed with exit code ${code}`, { exitCode: code });
  });
  // A program that ends before it has read its input is reported by its exit code.
  child.stdin?.on('error', () => {});
  if (input instanceof Readable) writeInput(input, child);
  else child.stdin?.end(input);
  return counted(promise).finally(limit.end);
}

/** The input ends early if the program has exited or the stream fails. The program then reports what it has not got. */
function writeInput(input: Readable, { stdin }: ChildProcess): void {
  if (stdin !== null) pipeline(input, stdin).catch(() => {});
}

function spawned(program: string, args: readonly string[], options: ProgramOptions, ends: AbortSignal): ChildProcess {
  const { killSignal = 'SIGKILL', input, environment, passedFd, endsChildren = false } = options;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe', ...(passedFd === undefined ? [] : [passedFd])];
  // Before it is ended itself: then nothing would tell any more whose group that is.
  if (endsChildren) ends.addEventListener('abort', () => endGroup(child.pid, killSignal), { once: true });
  const child = spawn(program, args, {
    signal: ends,
    killSignal,
    detached: true,
    stdio,
    env: { ...programEnvironment(), LC_ALL: 'C', ...environment },
  });
  return child;
}

/** What a program has left behind may hold its output open for ever: nobody waits for that. */
function endOutput(child: ChildProcess): void {
  const limit = startLimit(LAST_WORDS_MS);
  const end = () => {
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  };
  limit.signal.addEventListener('abort', end, { once: true });
  child.once('close', limit.end);
}

function counted<T>(ending: Promise<T>): Promise<T> {
  running += 1;
  return ending.finally(() => {
    running -= 1;
  });
}

/** A program leads the group of what it has started, unless that has left it. */
function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing is left of it.
  }
}

function collect(stream: Readable | null, most = Number.POSITIVE_INFINITY, onFull = () => {}): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (length < most) chunks.push(chunk);
    length += chunk.length;
    if (length > most) onFull();
  });
  return () => Buffer.concat(chunks).toString();
}
