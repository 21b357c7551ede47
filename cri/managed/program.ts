import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Runs a program to its end and gives its standard output; a failure carries what it wrote on standard error. */
export function run(
  program: string,
  args: readonly string[],
  options: { signal: AbortSignal; input?: Buffer | string; environment?: Readonly<Record<string, string>> },
): Promise<string> {
  return new Promise((settle, reject) => {
    const child = execFile(
      program,
      args,
      {
        env: { ...programEnvironment(), ...options.environment },
        signal: options.signal,
        timeout: LONGEST_RUN_MS,
        maxBuffer: 64 * 1024 * 1024,
      },
      (cause, stdout, stderr) => {
        if (cause === null) settle(stdout);
        else {
          const line = `${program} ${args.join(' ')}: ${stderr.trim() || cause.message}`;
          reject(new NodeFailure('RuntimeUnavailable', line, { cause }));
        }
      },
    );
    // A program that ends before it has read its input is reported by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
  });
}
