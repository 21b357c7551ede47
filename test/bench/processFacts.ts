import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { preciseNow } from './statistics.ts';

/** The kernel reports CPU time in hundredths of a second, regardless of its own tick rate. */
const MS_PER_TICK = 10;

/** Returns the CPU time (user and system) of all threads of a process, in milliseconds. */
export async function cpuTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Returns the resident memory of a process and its descendants, in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const below = await Promise.all(children.trim().split(/\s+/).filter(Boolean).map(Number).map(residentMemory));
  return below.reduce((sum, each) => sum + each, Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

/** Returns the CPU usage of a process over some seconds, in percent of one core. */
export async function shareOf(pid: number, seconds: number): Promise<number> {
  const [began, before] = [preciseNow(), await cpuTime(pid)];
  await pause(seconds * 1_000);
  return (((await cpuTime(pid)) - before) / (preciseNow() - began)) * 100;
}
