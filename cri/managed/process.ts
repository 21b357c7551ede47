import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { NodeFailure } from '../../pod/failure.ts';
import type { Layout } from './layout.ts';
import { programEnvironment } from './program.ts';
import { isRunning, processOf, type RunningProcess } from './runningProcess.ts';

/** Waits so many milliseconds. */
export type Pause = (ms: number) => Promise<void>;

/** Starts containerd in a session of its own, so that neither a terminal's Ctrl-C nor our end reaches it. */
export async function spawnContainerd(layout: Layout): Promise<RunningProcess> {
  const log = await open(layout.log, 'a');
  try {
    const child = spawn('containerd', ['--config', layout.config], {
      cwd: '/',
      detached: true,
      env: programEnvironment(),
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    child.unref();
    const { pid } = child;
    if (pid === undefined) throw new Error('a process that was spawned has no pid');
    await writeFile(layout.pidFile, `${pid}\n`);
    // Of one that has ended already its log tells.
    return (await processOf(pid)) ?? { pid, startedAt: '' };
  } catch (cause) {
    throw new NodeFailure('RuntimeUnavailable', 'containerd could not be started', { cause });
  } finally {
    await log.close();
  }
}

/** The containerd that runs with our configuration, whoever started it. */
export async function findContainerd(layout: Layout): Promise<RunningProcess | undefined> {
  const noted = Number(await readFile(layout.pidFile, 'utf8').catch(() => ''));
  if (noted > 0 && (await isContainerd(layout, noted))) return processOf(noted);
  // The pid may not have been written down: whoever started it can be killed just then.
  for (const pid of await processes()) if (await isContainerd(layout, pid)) return processOf(pid);
  return undefined;
}

/** Whether this process is the containerd of our configuration. */
async function isContainerd(layout: Layout, pid: number): Promise<boolean> {
  const [program, ...args] = await commandLine(pid);
  return program?.split('/').at(-1) === 'containerd' && hasOption(args, '--config', layout.config);
}

/** A shim, and the sandbox that it holds with the containers in it. */
interface Shim {
  readonly pid: number;
  readonly sandboxId: string;
}

/** The shims of our containerd: each holds one pod, and outlives containerd. */
export async function findShims(layout: Layout): Promise<readonly Shim[]> {
  const found = (await processes()).map(async (pid): Promise<Shim[]> => {
    const [program, ...args] = await commandLine(pid);
    const isOurs =
      program?.split('/').at(-1) === 'containerd-shim-runc-v2' && hasOption(args, '-address', layout.socket);
    return isOurs ? [{ pid, sandboxId: args[args.indexOf('-id') + 1] ?? '' }] : [];
  });
  return (await Promise.all(found)).flat();
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
  const found = (await processes()).map(async (pid): Promise<[number, number]> => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name before may hold blanks and brackets.
    return [pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)];
  });
  return new Map(await Promise.all(found));
}

/** Asks a process to end and waits for it, and kills it after `patienceMs`. */
export async function endProcess(process: RunningProcess, patienceMs: number, pause: Pause): Promise<void> {
  if (!(await endsBy('SIGTERM', process, patienceMs, pause))) await killProcess(process, pause);
}

/** Kills a process and waits until it is gone. */
export async function killProcess(process: RunningProcess, pause: Pause): Promise<void> {
  if (await endsBy('SIGKILL', process, 5_000, pause)) return;
  throw new NodeFailure('RuntimeUnavailable', `process ${process.pid} does not end`);
}

async function endsBy(
  signal: NodeJS.Signals,
  process: RunningProcess,
  withinMs: number,
  pause: Pause,
): Promise<boolean> {
  const stepMs = 10;
  if (!(await isRunning(process))) return true;
  kill(process.pid, signal);
  for (let waited = 0; waited < withinMs; waited += stepMs) {
    if (!(await isRunning(process))) return true;
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

async function processes(): Promise<number[]> {
  return (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
}

/** The command line of a process; empty when it is gone, or is a zombie. */
async function commandLine(pid: number): Promise<string[]> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line.split('\0');
}

function hasOption(args: readonly string[], name: string, value: string): boolean {
  return args.some((arg, index) => arg === name && args[index + 1] === value);
}
