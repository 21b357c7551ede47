/** Debian's Prometheus as a process of the test, with a configuration and a directory of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../support/root.ts';
import { eventually } from './eventually.ts';
import { freePort } from './freePort.ts';

const programs = join(root, '.cache', 'prometheus');
const LIMIT_MS = 60_000;

function program(name: 'prometheus' | 'promtool'): string {
  const path = join(programs, name);
  if (!existsSync(path)) throw new Error(`${name} is missing: "npm test" fetches it, and says why when it cannot`);
  return path;
}

/** A sample in a query result: its labels, and its value as text. */
export interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Target {
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
}

export class Prometheus {
  readonly #address: string;
  readonly #process: ChildProcess;

  private constructor(address: string, child: ChildProcess) {
    this.#address = address;
    this.#process = child;
  }

  /** Starts Prometheus with this configuration and these rules. JSON is valid YAML. */
  static async start(directory: string, config: object, rules: object): Promise<Prometheus> {
    const files = { rules: join(directory, 'rules.yaml'), config: join(directory, 'prometheus.yaml') };
    await writeFile(files.rules, JSON.stringify(rules));
    await writeFile(files.config, JSON.stringify({ ...config, rule_files: [files.rules] }));
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      program('prometheus'),
      [
        `--config.file=${files.config}`,
        `--storage.tsdb.path=${join(directory, 'tsdb')}`,
        `--web.listen-address=${address}`,
        '--log.level=warn',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const started = new Prometheus(address, child);
    await eventually('Prometheus is ready', async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus has ended with ${child.exitCode}`);
      return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok || undefined;
    });
    return started;
  }

  async query(text: string): Promise<readonly Found[]> {
    return (await this.#ask(`query?query=${encodeURIComponent(text)}`)).result;
  }

  async targets(): Promise<readonly Target[]> {
    return (await this.#ask('targets?state=active')).activeTargets;
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
  }

  async #ask(path: string) {
    const response = await fetch(`http://${this.#address}/api/v1/${path}`);
    const { status, data, error } = JSON.parse(await response.text());
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  }
}

/** Returns the complaints of `promtool check metrics` about a text, one per line. */
export function checkMetrics(text: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const options = { timeout: LIMIT_MS, maxBuffer: 2 ** 26 };
    const child = execFile(program('promtool'), ['check', 'metrics'], options, (error, out, err) => {
      // Exit code 3 means that there are complaints.
      if (error !== null && error.code !== 3) reject(new Error(`promtool: ${err}`, { cause: error }));
      else resolve(`${out}${err}`.split('\n').filter((line) => line !== ''));
    });
    child.stdin?.end(text);
  });
}
