import { readFile } from 'node:fs/promises';

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
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Such a host cannot tell: that is no word about the process.
    if (error.code === 'EMFILE' || error.code === 'ENFILE') throw error;
    return '';
  });
  // The name before may hold blanks and brackets.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedAt = fields[18];
  return startedAt === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startedAt };
}

/** Whether this process runs: neither has it ended, nor is it a later one of its pid. Throws while no file can be opened. */
export async function isRunning({ pid, startedAt }: RunningProcess): Promise<boolean> {
  return (await processOf(pid))?.startedAt === startedAt;
}
