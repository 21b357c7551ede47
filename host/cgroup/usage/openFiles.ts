/** The files that the processes of a cgroup have open. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { lacksFiles } from '../../files/fileErrors.ts';

export interface OpenFiles {
  readonly open: number;
  /** Absent: there are too many to look at each. */
  readonly sockets?: number;
  /** How many the first process may have open; -1: any number. */
  readonly softLimit?: number;
}

/** Each process takes about 20 µs, and each open file 3. */
const MOST_PROCESSES = 256;
const MOST_FILES = 1_000;

/**
 * Looks on the spot; absent where there are too many processes for that, and where too many files are open to look. One that
 * has ended meanwhile has none (`processStatsFromProcs` in cAdvisor's `container/libcontainer/handler.go`).
 */
export function openFiles(processes: readonly number[], proc = '/proc'): OpenFiles | undefined {
  if (processes.length > MOST_PROCESSES) return undefined;
  try {
    const files = processes.flatMap((pid) => namesIn(`${proc}/${pid}/fd`));
    const limit = softLimit(`${proc}/${processes[0]}/limits`);
    return {
      open: files.length,
      ...(files.length > MOST_FILES ? {} : { sockets: files.filter(isSocket).length }),
      ...(limit === undefined ? {} : { softLimit: limit }),
    };
  } catch (error) {
    if (lacksFiles(error)) return undefined;
    throw error;
  }
}

const namesIn = (directory: string): readonly string[] =>
  unlessGone(() => readdirSync(directory))?.map((name) => `${directory}/${name}`) ?? [];

const isSocket = (file: string): boolean => unlessGone(() => readlinkSync(file))?.startsWith('socket:') === true;

function softLimit(file: string): number | undefined {
  const [, soft] = /^Max open files +(\S+)/m.exec(unlessGone(() => readFileSync(file, 'utf8')) ?? '') ?? [];
  return soft === undefined ? undefined : soft === 'unlimited' ? -1 : Number(soft);
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (lacksFiles(error)) throw error;
    return undefined;
  }
}
