import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import { NodeFailure } from '../../../base/failure.ts';
import { defaultIfUnreadable } from '../../../host/files/fileErrors.ts';
import { programEnvironment } from '../../../host/program.ts';
import {
  findProcess,
  isRunning,
  mapProcesses,
  mayBeRunning,
  type RunningProcess,
  readCommandLine,
  readProcessStat,
} from '../../../host/runningProcess.ts';
import type { Layout } from '../layout.ts';

/** Waits for the given number of milliseconds. */
export type Pause = (ms: number) => Promise<void>;

/** Starts containerd in its own session, so that neither Ctrl-C in a terminal nor the exit of the agent stops it. */
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
    // If the process has already exited, containerd's log contains the reason.
    return (await findProcess(pid)) ?? { pid, startedAt: '' };
  } catch (cause) {
    // Kill the process, because later starts would not find it without a PID file.
    child?.kill('SIGKILL');
    throw new NodeFailure('RuntimeUnavailable', 'containerd could not be started', { cause });
  } finally {
    await log.close();
  }
}

/** Finds the process that runs with this layout's configuration, even if another agent started it. */
export async function findContainerd(layout: Layout): Promise<RunningProcess | undefined> {
  const recordedPid = Number(await readFile(layout.pidFile, 'utf8').catch(defaultIfUnreadable('')));
  const recordedProcess = recordedPid > 0 ? await matchContainerd(layout, recordedPid) : undefined;
  // The PID file may be missing, because the agent that started containerd can be killed before it writes the file.
  return recordedProcess ?? (await mapProcesses((pid) => matchContainerd(layout, pid))).at(0);
}

/** Returns the process with this PID if it is the containerd of the layout. */
async function matchContainerd(layout: Layout, pid: number): Promise<RunningProcess | undefined> {
  // Read the start time before the command line. If the PID is reused in between, the returned start time is that of
  // the earlier process, so the new process is not mistaken for containerd.
  const candidateProcess = await findProcess(pid);
  const [program, ...args] = candidateProcess === undefined ? [] : await readCommandLine(pid);
  const isContainerd = program?.split('/').at(-1) === 'containerd' && hasOption(args, '--config', layout.config);
  return isContainerd ? candidateProcess : undefined;
}

/** The process that supervises a sandbox's containers. */
interface Shim {
  readonly pid: number;
  readonly sandboxId: string;
}

/** Finds the shims of this containerd. A shim supervises one pod and keeps running when containerd exits. */
export async function findShims(layout: Layout): Promise<readonly Shim[]> {
  return mapProcesses(async (pid) => {
    const [program, ...args] = await readCommandLine(pid);
    const isShim =
      program?.split('/').at(-1) === 'containerd-shim-runc-v2' && hasOption(args, '-address', layout.socket);
    return isShim ? { pid, sandboxId: args[args.indexOf('-id') + 1] ?? '' } : undefined;
  });
}

/** Kills a shim and all its descendants, such as a `runc` process that is about to create a container. */
export async function killShim({ pid }: Shim): Promise<void> {
  const parentPids = await readParentPids();
  const isDescendant = (descendantPid: number): boolean => {
    const parentPid = parentPids.get(descendantPid);
    return parentPid !== undefined && (parentPid === pid || isDescendant(parentPid));
  };
  // Kill the shim first, because it could start further processes.
  for (const target of [pid, ...[...parentPids.keys()].filter(isDescendant)]) sendSignal(target, 'SIGKILL');
}

async function readParentPids(): Promise<Map<number, number>> {
  const pidEntries = await mapProcesses(async (pid) => [pid, Number((await readProcessStat(pid))[1] ?? 0)] as const);
  return new Map(pidEntries);
}

/** Terminates a process with SIGTERM, and with SIGKILL if it has not exited after `timeoutMs`. */
export async function terminateProcess(target: RunningProcess, timeoutMs: number, pause: Pause): Promise<void> {
  if (!(await exitsAfterSignal('SIGTERM', target, timeoutMs, pause))) await killProcess(target, pause);
}

/** Kills a process and waits until it has exited. */
export async function killProcess(target: RunningProcess, pause: Pause): Promise<void> {
  if (await exitsAfterSignal('SIGKILL', target, 5_000, pause)) return;
  throw new NodeFailure('RuntimeUnavailable', `process ${target.pid} did not exit`);
}

async function exitsAfterSignal(
  signal: NodeJS.Signals,
  target: RunningProcess,
  timeoutMs: number,
  pause: Pause,
): Promise<boolean> {
  const intervalMs = 10;
  if (!(await isRunning(target))) return true;
  sendSignal(target.pid, signal);
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += intervalMs) {
    if (!(await mayBeRunning(target))) return true;
    await pause(intervalMs);
  }
  return false;
}

/** Sends a signal to a process. Does nothing if the process does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}

function hasOption(args: readonly string[], name: string, value: string): boolean {
  return args.some((arg, index) => arg === name && args[index + 1] === value);
}
