/** Starts a DRA driver as a process, and controls its behaviour. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface DriverBehaviour {
  /** Errors by the name of the claim. */
  readonly claimErrors?: Readonly<Record<string, string>>;
  /** The CDI device names of each prepared device. */
  readonly cdiIds?: readonly string[];
  /** The IDs of the shares of a device that each claim gets. Absent if a claim gets a whole device. */
  readonly shareIds?: readonly string[];
  /** The error in each response to a request for what the driver is. */
  readonly infoError?: string;
  /** The error in each response to a notification about the registration. */
  readonly notifyError?: string;
  /** The socket of the service. Default: the usual one. */
  readonly endpoint?: string;
  /** The socket that the driver announces in its registration. Default: the socket of its service. */
  readonly announcedEndpoint?: string;
  /** Whether the socket of the service is created only after the registration. */
  readonly isLate?: boolean;
  /** The requests that each prepared device fulfils. */
  readonly requests?: readonly string[];
  /** Whether the driver never responds to calls. */
  readonly hangs?: boolean;
  /** The error of every call. */
  readonly fails?: string;
  /** The claims that are missing from the responses. */
  readonly skips?: readonly string[];
  readonly type?: string;
  readonly versions?: readonly string[];
  readonly health?: readonly {
    readonly device: string;
    /** The value in the API: 1 is healthy, 2 is unhealthy. */
    readonly healthStatus: number;
    readonly message?: string;
    readonly timeoutSeconds?: number;
  }[];
}

export interface DriverCall {
  readonly call: 'prepare' | 'unprepare' | 'notify';
  readonly version?: string;
  readonly claims?: readonly string[];
  readonly isRegistered?: boolean;
  readonly error?: string;
}

export class DraDriver {
  readonly #name: string;
  readonly #registryDirectory: string;
  readonly #directory: string;
  #process: ChildProcess | undefined;

  /** `root` is the root directory of the node. */
  constructor(name: string, root: string) {
    this.#name = name;
    this.#registryDirectory = join(root, 'plugins_registry');
    this.#directory = join(root, 'plugins', name);
  }

  get endpoint(): string {
    return join(this.#directory, 'dra.sock');
  }

  get registrationSocket(): string {
    return join(this.#registryDirectory, `${this.#name}-reg.sock`);
  }

  async start(behaviour: DriverBehaviour = {}): Promise<void> {
    await this.behave(behaviour);
    const program = join(import.meta.dirname, 'program.ts');
    const args = [program, this.#name, this.#registryDirectory, this.#directory];
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('the driver has no output');
    await once(stdout, 'data');
  }

  async behave(behaviour: DriverBehaviour): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const next = join(this.#directory, 'next.json');
    await writeFile(next, JSON.stringify(behaviour));
    await rename(next, join(this.#directory, 'behaviour.json'));
  }

  /** Returns all calls so far, including those of earlier processes of the driver. */
  calls(): DriverCall[] {
    const path = join(this.#directory, 'calls.jsonl');
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  /** Stops the process, and leaves its sockets. */
  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
}
