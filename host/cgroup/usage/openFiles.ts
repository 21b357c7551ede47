/** Counts the open files of a cgroup's processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isOutOfDescriptors } from '../../files/fileErrors.ts';

export interface OpenFiles {
  readonly openCount: number;
  /** Number of open sockets. Undefined if there are too many open files to inspect each of them. */
  readonly socketCount?: number;
  /** Soft limit on the open files of the first process. -1 means no limit. */
  readonly softLimit?: number;
}

/**
 * Maximum number of processes whose open files are counted. If there are more, nothing is counted, because each process
 * takes about 20 µs.
 */
const MAX_PROCESSES = 256;
/**
 * Maximum number of open files that are inspected. If there are more, sockets are not counted, because each file takes
 * about 3 µs.
 */
const MAX_FILES = 1_000;

/**
 * Counts the open files synchronously. Returns undefined if there are too many processes or if this process has run out
 * of file descriptors. A process that has exited is treated as having no open files (`processStatsFromProcs` in
 * cAdvisor's `container/libcontainer/handler.go`).
 */
export function countOpenFiles(processes: readonly number[], proc = '/proc'): OpenFiles | undefined {
  if (processes.length > MAX_PROCESSES) return undefined;
  try {
    const files = processes.flatMap((pid) => listPaths(`${proc}/${pid}/fd`));
    const limit = readSoftLimit(`${proc}/${processes[0]}/limits`);
    return {
      openCount: files.length,
      ...(files.length > MAX_FILES ? {} : { socketCount: files.filter(isSocket).length }),
      ...(limit === undefined ? {} : { softLimit: limit }),
    };
  } catch (error) {
    if (isOutOfDescriptors(error)) return undefined;
    throw error;
  }
}

const listPaths = (directory: string): readonly string[] =>
  undefinedIfGone(() => readdirSync(directory))?.map((name) => `${directory}/${name}`) ?? [];

const isSocket = (file: string): boolean => undefinedIfGone(() => readlinkSync(file))?.startsWith('socket:') === true;

function readSoftLimit(file: string): number | undefined {
  const [, limit] = /^Max open files +(\S+)/m.exec(undefinedIfGone(() => readFileSync(file, 'utf8')) ?? '') ?? [];
  return limit === undefined ? undefined : limit === 'unlimited' ? -1 : Number(limit);
}

function undefinedIfGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return undefined;
  }
}
