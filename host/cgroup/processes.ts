/** Kills what is left in a cgroup: processes that the runtime does not know, or does not end. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type CgroupWork, childCgroups, relativePath } from './remove.ts';

const TRIES = 40;
const WAIT_MS = 25;
/** As many as a message can name. */
const MOST_NAMED = 5;

/**
 * Kills every process in a cgroup and in all below it, and waits for their end; a cgroup that is not there has none.
 * Fails with `FailedKillPod` when some live on after a second, as one that waits for a device does.
 */
export async function killCgroup({ cgroupfs, hierarchies, path: cgroup, signal, wait }: CgroupWork): Promise<void> {
  const relative = relativePath(cgroup);
  const roots = hierarchies.map(({ root }) => path.join(root, relative));
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const left = (await Promise.all(roots.map((root) => killBelow(cgroupfs, root)))).flat();
    if (left.length === 0) return;
    if (tries === TRIES) throw new NodeFailure('FailedKillPod', stillThere(cgroupfs, cgroup, [...new Set(left)]));
    await wait(WAIT_MS, signal);
  }
}

/** Whether there is a process in a cgroup or in one below it, in any hierarchy. */
export async function holdsProcesses({
  cgroupfs,
  hierarchies,
  path: cgroup,
}: Pick<CgroupWork, 'cgroupfs' | 'hierarchies' | 'path'>): Promise<boolean> {
  const relative = relativePath(cgroup);
  const held = await Promise.all(hierarchies.map(({ root }) => isBusy(cgroupfs, path.join(root, relative))));
  return held.some(Boolean);
}

async function isBusy(cgroupfs: Cgroupfs, directory: string): Promise<boolean> {
  const processes = cgroupfs.read(path.join(directory, 'cgroup.procs')) ?? '';
  if (processes.trim() !== '') return true;
  const children = await childCgroups(cgroupfs, directory);
  return (await Promise.all(children.map((child) => isBusy(cgroupfs, child)))).some(Boolean);
}

/** Gives the processes that there were in it. */
async function killBelow(cgroupfs: Cgroupfs, directory: string): Promise<number[]> {
  const children = await childCgroups(cgroupfs, directory);
  const own = cgroupfs.kill(directory);
  const below = children.map((child) => killBelow(cgroupfs, child));
  return [own, ...(await Promise.all(below))].flat();
}

function stillThere(cgroupfs: Cgroupfs, cgroup: string, processes: readonly number[]): string {
  const named = processes.slice(0, MOST_NAMED).map((pid) => `${pid} (${cgroupfs.processName(pid)})`);
  const more = processes.length > MOST_NAMED ? ` and ${processes.length - MOST_NAMED} more` : '';
  return `processes in the cgroup ${cgroup} survive SIGKILL: ${named.join(', ')}${more}`;
}
