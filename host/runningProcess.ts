import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultIfUnreadable } from './files/fileErrors.ts';

/** A process, identified by its PID and its start time, because PIDs are reused. */
export interface RunningProcess {
  readonly pid: number;
  /** Start time in clock ticks since boot. */
  readonly startedAt: string;
}

/**
 * Returns the process with this PID, or undefined if there is none or it is a zombie. The start time identifies the
 * process, because it never changes, whereas the command line is empty for a moment during exec.
 */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  const [state = '', ...fields] = await readProcessStat(pid);
  const startedAt = fields[18];
  return startedAt === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startedAt };
}

/**
 * Returns the fields of `/proc/<pid>/stat`, starting with the state, so that the parent's PID is the second one. Empty
 * if the process does not exist.
 */
export async function readProcessStat(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(defaultIfUnreadable(''));
  // The process name, which precedes the state, may contain spaces and parentheses.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * Whether the process still exists, as opposed to a later one with the same PID. Throws if the agent has run out of
 * file descriptors.
 */
export async function isRunning({ pid, startedAt }: RunningProcess): Promise<boolean> {
  return (await findProcess(pid))?.startedAt === startedAt;
}

/**
 * Whether the process may still exist. If the agent has run out of file descriptors, the process is assumed to be
 * running.
 */
export const mayBeRunning = (target: RunningProcess): Promise<boolean> => isRunning(target).catch(() => true);

/**
 * Maximum number of concurrent reads. Without a limit, a host with many processes could exceed the number of files that
 * this process may open.
 */
const MAX_PARALLEL_READS = 4;

/** Calls `read` for every process of the host and returns the results that are not undefined. */
export async function mapProcesses<T>(read: (pid: number) => Promise<T | undefined>, proc = '/proc'): Promise<T[]> {
  const names = await readdir(proc).catch(defaultIfUnreadable([]));
  const pids = names.filter((name) => /^[1-9]\d*$/.test(name)).values();
  const results: T[] = [];
  const readNext = async () => {
    for (const pid of pids) {
      const result = await read(Number(pid));
      if (result !== undefined) results.push(result);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_READS }, readNext));
  return results;
}

/** Returns the command line of a process. Empty if the process does not exist or is a zombie. */
export async function readCommandLine(pid: number, proc = '/proc'): Promise<string[]> {
  const line = await readFile(join(proc, String(pid), 'cmdline'), 'utf8').catch(defaultIfUnreadable(''));
  return line.split('\0');
}
