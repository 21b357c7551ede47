/** The kubectls of Debian, as users of a cluster run them. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.ts';

/** Far more than any command here takes. */
const LIMIT_MS = 60_000;

/** The releases of Debian that `npm test` fetches a kubectl of. */
export type Release = 'bookworm' | 'sid';

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class Kubectl {
  readonly #program: string;
  readonly #options: readonly string[];

  /** In a directory of the test it keeps what it has discovered. */
  constructor(
    release: Release,
    { kubeconfig, directory }: { readonly kubeconfig: string; readonly directory: string },
  ) {
    this.#program = join(root, '.cache', 'kubectl', release, 'kubectl');
    if (!existsSync(this.#program))
      throw new Error(`kubectl of ${release} is missing: "npm test" fetches it, and says why when it cannot`);
    this.#options = ['--kubeconfig', kubeconfig, '--cache-dir', join(directory, `kubectl-${release}`)];
  }

  /** Starts a command that is to be spoken with; whoever starts it ends it. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
    return spawn(this.#program, [...this.#options, ...args], { env: { ...process.env, ...env } });
  }

  /** Starts one in a terminal of so many rows and columns. */
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

  /** Runs a command to its end, whatever that is. */
  tell(...args: readonly string[]): Promise<Told> {
    return new Promise((done) => {
      const child = execFile(
        this.#program,
        [...this.#options, ...args],
        { timeout: LIMIT_MS, killSignal: 'SIGKILL' },
        (_error, out, err) => done({ code: child.exitCode ?? -1, out, err }),
      );
    });
  }

  /** What a command that ends well has to say. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.tell(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${out}${err}`);
    return out;
  }
}
