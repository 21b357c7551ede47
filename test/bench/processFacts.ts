import { readFile } from 'node:fs/promises';

/** The kernel counts CPU time in hundredths of a second, whatever its own clock. */
const MS_PER_TICK = 10;

/** The CPU time that a process has used in all its threads, user and system, in milliseconds. */
export async function cpuTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** The memory that a process has resident, in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
