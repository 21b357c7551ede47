import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import { NodeFailure } from '../../base/failure.ts';
import { otherwise } from '../../host/files/fileErrors.ts';
import { programEnvironment } from '../../host/program.ts';
import {
  commandLine,
  isRunning,
  lookAtProcesses,
  mayRun,
  processOf,
  type RunningProcess,
  statOf,
} from '../../host/runningProcess.ts';
import type { Layout } from './layout.ts';

/** Waits so many milliseconds. */
export type Pause = (ms: number) => Promise<void>;

/** Starts containerd in a session of its own, so that neither a terminal's Ctrl-C nor our end reaches it. */
export async function spawnContainerd(layout: Layout): Promise<RunningProcess> {
  const log = await open(layout.log, 'a');
  let child: ChildProcess | undefined;
  try {
    child = spawn('containerd', ['--config', layout.config], {
      cwd: '/',
      detached: true,
      env: programEnvironment(),
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    child.unref();
    const { pid } = child;
    if (pid === undefined) throw new Error('the spawned process has no pid');
    await writeFile(layout.pidFile, `${pid}\n`);
    // One that has ended already never runs again; its log says why.
    return (await processOf(pid)) ?? { pid, startedAt: '' };
  } catch (cause) {
    // Nobody would find it. It is killed, for it has just begun.
    child?.kill('SIGKILL');
    throw new NodeFailure('RuntimeUnavailable', 'containerd could not be started', { cause });
  } finally {
    await log.close();
  }
}

/** The containerd that runs with our configuration, whoever started it. */
export async function findContainerd(layout: Layout): Promise<RunningProcess | undefined> {
  const noted = Number(await readFile(layout.pidFile, 'utf8').catch(otherwise('')));
  const known = noted > 0 ? await containerdOf(layout, noted) : undefined;
  // The pid may not have been written down: whoever started it can be killed just then.
  return known ?? (await lookAtProcesses((pid) => containerdOf(layout, pid))).at(0);
}

/** The process of this pid, where it is the containerd of our configuration. */
async function containerdOf(layout: Layout, pid: number): Promise<RunningProcess | undefined> {
  // First who it is: what has ended until its command line is read never runs again.
  const found = await processOf(pid);
  const [program, ...args] = found === undefined ? [] : await commandLine(pid);
  const isOurs = program?.split('/').at(-1) === 'containerd' && hasOption(args, '--config', layout.config);
  return isOurs ? found : undefined;
}

/** A shim, and the sandbox that it holds with the containers in it. */
interface Shim {
  readonly pid: number;
  readonly sandboxId: string;
}

/** The shims of our containerd: each holds one pod, and outlives containerd. */
export async function findShims(layout: Layout): Promise<readonly Shim[]> {
  return lookAtProcesses(async (pid) => {
    const [program, ...args] = await commandLine(pid);
    const isOurs =
      program?.split('/').at(-1) === 'containerd-shim-runc-v2' && hasOption(args, '-address', layout.socket);
    return isOurs ? { pid, sandboxId: args[args.indexOf('-id') + 1] ?? '' } : undefined;
  });
}

/** Kills a shim with all that it has started, such as a `runc` that has yet to make its container. */
export async function killShim({ pid }: Shim): Promise<void> {
  const parents = await parentsOfAll();
  const descends = (each: number): boolean => {
    const parent = parents.get(each);
    return parent !== undefined && (parent === pid || descends(parent));
  };
  // The shim first: it would start more.
  for (const each of [pid, ...[...parents.keys()].filter(descends)]) kill(each, 'SIGKILL');
}

async function parentsOfAll(): Promise<Map<number, number>> {
  const found = await lookAtProcesses(async (pid) => [pid, Number((await statOf(pid))[1] ?? 0)] as const);
  return new Map(found);
}

/** Asks a process to end and waits for it, and kills it after `patienceMs`. */
export async function endProcess(running: RunningProcess, patienceMs: number, pause: Pause): Promise<void> {
  if (!(await endsBy('SIGTERM', running, patienceMs, pause))) await killProcess(running, pause);
}

/** Kills a process and waits until it is gone. */
export async function killProcess(running: RunningProcess, pause: Pause): Promise<void> {
  if (await endsBy('SIGKILL', running, 5_000, pause)) return;
  throw new NodeFailure('RuntimeUnavailable', `process ${running.pid} did not exit`);
}

async function endsBy(
  signal: NodeJS.Signals,
  running: RunningProcess,
  withinMs: number,
  pause: Pause,
): Promise<boolean> {
  const stepMs = 10;
  if (!(await isRunning(running))) return true;
  kill(running.pid, signal);
  for (let waited = 0; waited < withinMs; waited += stepMs) {
    if (!(await mayRun(running))) return true;
    await pause(stepMs);
  }
  return false;
}

/** Kills a process at once; one that is gone already is no error. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}

function hasOption(args: readonly string[], name: string, value: string): boolean {
  return args.some((arg, index) => arg === name && args[index + 1] === value);
}
