import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { NodeFailure } from '../../pod/failure.ts';

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

/** None of the programs that run for us takes that long, unless it hangs. */
const LONGEST_RUN_MS = 120_000;

interface RunOptions {
  readonly signal: AbortSignal;
  readonly input?: Buffer | string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program to its end and gives its standard output; a failure carries what it wrote on standard error. It has a
 * session of its own: a terminal's Ctrl-C is for us to act on, and would end it halfway.
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { signal, input, environment } = options;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_RUN_MS)]);
  const env = { ...programEnvironment(), ...environment };
  return new Promise((settle, reject) => {
    const child = spawn(program, args, { env, signal: limit, detached: true });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const fail = (problem: string, cause: unknown) => {
      const words = limit.aborted && !signal.aborted ? `not done within ${LONGEST_RUN_MS / 1_000} s` : problem;
      const line = `${program} ${args.join(' ')}: ${err().trim() || words}`;
      reject(new NodeFailure('RuntimeUnavailable', line, { cause }));
    };
    child.on('error', (error) => fail(error.message, error));
    child.on('close', (code, name) => {
      if (code === 0) settle(out());
      else fail(code === null ? `ended by ${name}` : `failed with exit code ${code}`, { code });
    });
    // A program that ends before it has read its input is reported by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
