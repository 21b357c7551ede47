import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { otherwise } from './files/fileErrors.ts';

/** A process, told from a later one of its pid by when it started. */
export interface RunningProcess {
  readonly pid: number;
  /** In the kernel's ticks since boot. */
  readonly startedAt: string;
}

/**
 * The process that has this pid now. One that has ended and that nobody has asked for its exit code yet (a zombie) is none
 * any more. Unlike its command line, which is empty for a moment while it begins another program, this stays as it is.
 */
export async function processOf(pid: number): Promise<RunningProcess | undefined> {
  const [state = '', ...fields] = await statOf(pid);
  const startedAt = fields[18];
  return startedAt === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startedAt };
}

/** What the kernel tells of a process from its state on: the parent is the next field. Empty when it is gone. */
export async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(otherwise(''));
  // The name before may hold blanks and brackets.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Whether this process runs: neither has it ended, nor is it a later one of its pid. Throws while no file can be opened. */
export async function isRunning({ pid, startedAt }: RunningProcess): Promise<boolean> {
  return (await processOf(pid))?.startedAt === startedAt;
}

/** As `isRunning`; while no file can be opened nobody can tell, and it counts as running. */
export const mayRun = (running: RunningProcess): Promise<boolean> => isRunning(running).catch(() => true);

/** So many processes are looked at together: a host may have more of them than this process may open files. */
const PARALLEL_READS = 4;

/** Looks at every process of the host, and gives what was found of them. */
export async function lookAtProcesses<T>(look: (pid: number) => Promise<T | undefined>, proc = '/proc'): Promise<T[]> {
  const names = await readdir(proc).catch(otherwise([]));
  const pids = names.filter((name) => /^[1-9]\d*$/.test(name)).values();
  const found: T[] = [];
  const lookOn = async () => {
    for (const pid of pids) {
      const seen = await look(Number(pid));
      if (seen !== undefined) found.push(seen);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_READS }, lookOn));
  return found;
}

/** The command line of a process; empty when it is gone, or is a zombie. */
export async function commandLine(pid: number, proc = '/proc'): Promise<string[]> {
  const line = await readFile(join(proc, String(pid), 'cmdline'), 'utf8').catch(otherwise(''));
  return line.split('\0');
}
