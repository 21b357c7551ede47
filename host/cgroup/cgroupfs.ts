/**
 * Accesses the kernel's cgroup files. Reads and simple writes (of a name or a number) are synchronous, because they are
 * faster than a round trip through the thread pool. Operations that can take longer, e.g. because the kernel reclaims
 * memory, are asynchronous.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defaultIfUnreadable } from '../files/fileErrors.ts';

/** The kernel's cgroupfs or a simulation of it. Paths are absolute. Failures are system call errors. */
export interface Cgroupfs {
  exists(path: string): boolean;
  /** Returns the contents of a file, or undefined if it cannot be read. Throws if too many files are open. */
  read(file: string): string | undefined;
  /**
   * Returns the names of the entries in a directory, or an empty list if it cannot be read. Throws if too many files
   * are open.
   */
  names(directory: string): readonly string[];
  /** Creates a cgroup and its missing parents. */
  mkdir(directory: string): Promise<unknown>;
  write(file: string, text: string): Promise<void>;
  rmdir(directory: string): Promise<void>;
  /** Returns the paths of the direct child cgroups. */
  children(directory: string): Promise<readonly string[]>;
  /**
   * Kills the processes of a cgroup, but not those of its children. Returns the PIDs, including those of processes that
   * cannot be killed. Throws if too many files are open.
   */
  kill(directory: string): readonly number[];
  /** Returns the name of a process for messages. */
  processName(pid: number): string;
}

/**
 * Pattern of the limit files for which a write only stores the value. Lowering a memory limit, by contrast, makes the
 * kernel reclaim memory.
 */
const NUMERIC_LIMITS_PATTERN = /^(?:cpu|hugetlb|pids)\./;

export const hostCgroupfs: Cgroupfs = {
  exists: existsSync,
  read: (file) => undefinedIfUnreadable(() => readFileSync(file, 'utf8')),
  names: (directory) => undefinedIfUnreadable(() => readdirSync(directory)) ?? [],
  mkdir: async (directory) => mkdirSync(directory, { recursive: true }),
  write: async (file, text) =>
    NUMERIC_LIMITS_PATTERN.test(basename(file)) ? writeFileSync(file, text) : writeFile(file, text),
  rmdir,
  children: async (directory) => {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(directory, entry.name)] : []));
  },
  kill: killProcesses,
  processName: (pid) => undefinedOnError(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? 'just exited',
};

/**
 * Reads the PIDs and kills the processes in one turn of the event loop, so that the kernel has hardly any time to reuse
 * a PID in between.
 */
function killProcesses(directory: string): number[] {
  const processes = readProcesses(directory);
  for (const pid of processes) {
    // Ignore the error, because the process has exited or cannot be killed. The next read of the PIDs shows which is
    // the case.
    undefinedOnError(() => process.kill(pid, 'SIGKILL'));
  }
  // On v1, a frozen process exits only after it is thawed. The flag `r+` avoids creating the file where it does not
  // exist, i.e. in hierarchies of other controllers, on v2, and in removed cgroups.
  if (processes.length > 0) {
    undefinedOnError(() => writeFileSync(join(directory, 'freezer.state'), 'THAWED', { flag: 'r+' }));
  }
  return processes;
}

function readProcesses(directory: string): number[] {
  const pidLines =
    undefinedIfUnreadable(() => readFileSync(join(directory, 'cgroup.procs'), 'utf8'))?.split('\n') ?? [];
  // A process in a different PID namespace is listed as 0, and a signal to PID 0 would reach this process and its
  // group.
  return pidLines.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
}

function undefinedIfUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return defaultIfUnreadable(undefined)(error);
  }
}

/** Calls a function and returns undefined if it throws. */
function undefinedOnError<T>(operation: () => T): T | undefined {
  try {
    return operation();
  } catch {
    return undefined;
  }
}
