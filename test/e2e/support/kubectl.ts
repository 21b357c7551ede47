/** Debian's kubectl releases, used like by a cluster user. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.ts';

/** Time limit in milliseconds, far more than any command here takes. */
const LIMIT_MS = 60_000;

/** The Debian releases whose kubectl `npm test` downloads. */
export type Release = 'bookworm' | 'sid';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class Kubectl {
  readonly #program: string;
  readonly #options: readonly string[];

  /** The discovery cache is in a directory of the test. */
  constructor(
    release: Release,
    { kubeconfig, directory }: { readonly kubeconfig: string; readonly directory: string },
  ) {
    this.#program = join(root, '.cache', 'kubectl', release, 'kubectl');
    if (!existsSync(this.#program))
      throw new Error(`kubectl of ${release} is missing: "npm test" fetches it, and says why when it cannot`);
    this.#options = ['--kubeconfig', kubeconfig, '--cache-dir', join(directory, `kubectl-${release}`)];
  }

  /** Starts an interactive command, which the caller must stop. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
    return spawn(this.#program, [...this.#options, ...args], { env: { ...process.env, ...env } });
  }

  /** Starts an interactive command in a terminal of this size. */
  startInTerminal(
    args: readonly string[],
    [rows, columns]: readonly [rows: number, columns: number],
    env: Readonly<Record<string, string>> = {},
  ): ChildProcessWithoutNullStreams {
    const quoted = [this.#program, ...this.#options, ...args].map((each) => `'${each.replaceAll("'", "'\\''")}'`);
    const line = `stty rows ${rows} cols ${columns}; exec ${quoted.join(' ')}`;
    return spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      env: { ...process.env, ...env },
    });
  }

  /** Runs a command until it exits, and returns its output and exit code even if it fails. */
  tryRun(...args: readonly string[]): Promise<CommandResult> {
    return new Promise((done) => {
      const child = execFile(
        this.#program,
        [...this.#options, ...args],
        { timeout: LIMIT_MS, killSignal: 'SIGKILL' },
        (_error, out, err) => done({ code: child.exitCode ?? -1, out, err }),
      );
    });
  }

  /** Returns the output of a command. Throws unless its exit code is 0. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.tryRun(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${out}${err}`);
    return out;
  }
}
