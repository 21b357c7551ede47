/**
 * What is asked of the kernel about cgroups, as files of its hierarchies. A look is answered at once, sooner than a
 * thread could be asked to look, and so is what only sets down a name or a number in the kernel's memory. What moves
 * memory or ends something, or goes through a tree, is waited for.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { otherwise } from '../files/fileErrors.ts';

/** The kernel's cgroupfs, or a model of it. Paths are absolute; what it refuses fails with the errors of system calls. */
export interface Cgroupfs {
  exists(path: string): boolean;
  /** What a file has; undefined when it cannot be read. Throws where too many files are open to say. */
  read(file: string): string | undefined;
  /** The names in a directory; none when it cannot be read. Throws where too many files are open to say. */
  names(directory: string): readonly string[];
  /** Makes a cgroup and those above it that are missing. */
  mkdir(directory: string): Promise<unknown>;
  write(file: string, text: string): Promise<void>;
  rmdir(directory: string): Promise<void>;
  /** The directories of the cgroups right below one. */
  children(directory: string): Promise<readonly string[]>;
  /**
   * Kills the processes of one cgroup, without those below it; gives their numbers, also of those that cannot be killed.
   * Throws where too many files are open to look.
   */
  kill(directory: string): readonly number[];
  /** The name of a process, for messages. */
  processName(pid: number): string;
}

/** The files of limits that the kernel heeds from now on; below a lower one of memory it first frees what is above. */
const NUMBERS = /^(?:cpu|hugetlb|pids)\./;

/** The host's own. */
export const hostCgroupfs: Cgroupfs = {
  exists: existsSync,
  read: (file) => orUndefined(() => readFileSync(file, 'utf8')),
  names: (directory) => orUndefined(() => readdirSync(directory)) ?? [],
  mkdir: async (directory) => mkdirSync(directory, { recursive: true }),
  write: async (file, text) => (NUMBERS.test(basename(file)) ? writeFileSync(file, text) : writeFile(file, text)),
  rmdir,
  children: async (directory) => {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(directory, entry.name)] : []));
  },
  kill: killIn,
  processName: (pid) => attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? 'just exited',
};

/** Read and killed on the spot: in between no other process could come by one of these numbers. */
function killIn(directory: string): number[] {
  const processes = processesIn(directory);
  for (const pid of processes) {
    // If not, it has ended, or cannot be killed: then it shows in the next look.
    attempt(() => process.kill(pid, 'SIGKILL'));
  }
  // On v1 what is frozen dies only when it is thawed. Another controller's hierarchy, v2, and a cgroup that is gone have
  // no such file, and none is made.
  if (processes.length > 0) {
    attempt(() => writeFileSync(join(directory, 'freezer.state'), 'THAWED', { flag: 'r+' }));
  }
  return processes;
}

function processesIn(directory: string): number[] {
  const lines = orUndefined(() => readFileSync(join(directory, 'cgroup.procs'), 'utf8'))?.split('\n') ?? [];
  // A process that this one cannot see shows as 0, which as a target would mean this process and all its group.
  return lines.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
}

function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    return otherwise(undefined)(error);
  }
}

/** What it gives, or undefined where it fails. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
