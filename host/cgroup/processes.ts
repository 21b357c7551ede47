/** Kills the remaining processes in a cgroup, i.e. those that the runtime has no record of or fails to terminate. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type CgroupOperation, listChildCgroups, relativePath } from './remove.ts';

const MAX_ATTEMPTS = 40;
const RETRY_DELAY_MS = 25;
/** Maximum number of processes to name in a message. */
const MAX_NAMED_PROCESSES = 5;

/**
 * Kills all processes in a cgroup and its descendants, and waits until they have exited. Succeeds if the cgroup does
 * not exist. Fails with `FailedKillPod` if a process has not exited after a second, e.g. because it is in
 * uninterruptible sleep.
 */
export async function killCgroup({
  cgroupfs,
  hierarchies,
  path: cgroup,
  signal,
  wait,
}: CgroupOperation): Promise<void> {
  const relativeCgroup = relativePath(cgroup);
  const roots = hierarchies.map(({ root }) => path.join(root, relativeCgroup));
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const remainingPids = (await Promise.all(roots.map((root) => killTree(cgroupfs, root)))).flat();
    if (remainingPids.length === 0) return;
    if (attempt === MAX_ATTEMPTS)
      throw new NodeFailure('FailedKillPod', describeSurvivors(cgroupfs, cgroup, [...new Set(remainingPids)]));
    await wait(RETRY_DELAY_MS, signal);
  }
}

/** Whether any process is in a cgroup or its descendants, in any hierarchy. */
export async function hasProcesses({
  cgroupfs,
  hierarchies,
  path: cgroup,
}: Pick<CgroupOperation, 'cgroupfs' | 'hierarchies' | 'path'>): Promise<boolean> {
  const relativeCgroup = relativePath(cgroup);
  const busyResults = await Promise.all(
    hierarchies.map(({ root }) => isBusy(cgroupfs, path.join(root, relativeCgroup))),
  );
  return busyResults.some(Boolean);
}

async function isBusy(cgroupfs: Cgroupfs, directory: string): Promise<boolean> {
  const processes = cgroupfs.read(path.join(directory, 'cgroup.procs')) ?? '';
  if (processes.trim() !== '') return true;
  const children = await listChildCgroups(cgroupfs, directory);
  return (await Promise.all(children.map((child) => isBusy(cgroupfs, child)))).some(Boolean);
}

/** Kills the processes of a cgroup and its descendants, and returns their PIDs. */
async function killTree(cgroupfs: Cgroupfs, directory: string): Promise<number[]> {
  const children = await listChildCgroups(cgroupfs, directory);
  const pids = cgroupfs.kill(directory);
  const descendantKills = children.map((child) => killTree(cgroupfs, child));
  return [pids, ...(await Promise.all(descendantKills))].flat();
}

function describeSurvivors(cgroupfs: Cgroupfs, cgroup: string, processes: readonly number[]): string {
  const names = processes.slice(0, MAX_NAMED_PROCESSES).map((pid) => `${pid} (${cgroupfs.processName(pid)})`);
  const moreSuffix =
    processes.length > MAX_NAMED_PROCESSES ? ` and ${processes.length - MAX_NAMED_PROCESSES} more` : '';
  return `processes in the cgroup ${cgroup} survive SIGKILL: ${names.join(', ')}${moreSuffix}`;
}
