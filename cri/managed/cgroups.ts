import { access, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { type Pause, sendSignal } from './containerd/process.ts';
import type { Layout } from './layout.ts';

const CGROUP_ROOT = '/sys/fs/cgroup';

const bundleSpecSchema = z.object({ linux: z.object({ cgroupsPath: z.string() }) });

/** Returns the cgroups of the pods whose containers belong to the given containerd. */
export async function listPodCgroups(layout: Layout): Promise<string[]> {
  const ids = await readdir(layout.bundles).catch(() => []);
  const cgroups = await Promise.all(ids.map((id) => readCgroupPath(layout, id)));
  const parentCgroups = cgroups.map((path) => (path === undefined ? undefined : dirname(path)));
  return [
    ...new Set(parentCgroups.flatMap((path) => (path === undefined || path === '/' || path === '.' ? [] : [path]))),
  ];
}

/** Returns the cgroup of a container or sandbox, or undefined if its bundle is incomplete. */
async function readCgroupPath({ bundles }: Layout, id: string): Promise<string | undefined> {
  try {
    const spec = bundleSpecSchema.parse(JSON.parse(await readFile(join(bundles, id, 'config.json'), 'utf8')));
    return spec.linux.cgroupsPath;
  } catch {
    return undefined;
  }
}

/**
 * Kills all processes of a container or sandbox. Does nothing if the cgroup's name is not the ID, because the cgroup
 * might belong to other software.
 */
export async function killContainer(layout: Layout, id: string): Promise<void> {
  const path = await readCgroupPath(layout, id);
  if (path === undefined || !path.endsWith(`/${id}`)) return;
  await Promise.all((await listHierarchies()).map((hierarchy) => killProcesses(join(hierarchy, path))));
}

/**
 * Removes the cgroup of a containerd with all cgroups below it, and the cgroups of its pods, in every hierarchy. Kills
 * processes that remain in the containerd's own cgroup, e.g. from an interrupted start. Retries busy cgroups for a
 * while, because killed processes need time to exit.
 */
export async function removeCgroups(ownCgroup: string, podCgroups: readonly string[], pause: Pause): Promise<void> {
  // Remove pod cgroups outside the containerd's own cgroup one by one, because their parents may belong to other
  // software.
  const outerPodCgroups = podCgroups.filter((path) => !path.startsWith(`${ownCgroup}/`));
  const removeFromHierarchy = async (hierarchy: string) => {
    const removeOwnCgroup = async () => {
      await killProcesses(join(hierarchy, ownCgroup));
      return removeCgroupTree(join(hierarchy, ownCgroup));
    };
    await retryRemoval(removeOwnCgroup, pause);
    for (const path of outerPodCgroups) await retryRemoval(() => removeCgroup(join(hierarchy, path)), pause);
  };
  await Promise.all((await listHierarchies()).map(removeFromHierarchy));
}

/** Whether a containerd's own cgroup exists in any hierarchy. */
export async function hasCgroup(ownCgroup: string): Promise<boolean> {
  const existenceChecks = (await listHierarchies()).map((hierarchy) =>
    access(join(hierarchy, ownCgroup)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(existenceChecks)).includes(true);
}

async function retryRemoval(removeCgroup: () => Promise<boolean>, pause: Pause): Promise<void> {
  for (let attempt = 0; attempt < 50 && !(await removeCgroup()); attempt++) await pause(20);
}

/**
 * Returns the mount points of the cgroup hierarchies: one on cgroup v2, one per controller on v1, where the hybrid
 * layout adds `unified`.
 */
async function listHierarchies(): Promise<string[]> {
  const entries = await readdir(CGROUP_ROOT, { withFileTypes: true });
  if (entries.some((entry) => entry.name === 'cgroup.controllers')) return [CGROUP_ROOT];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(CGROUP_ROOT, entry.name));
}

/** Kills all processes in a cgroup and its descendants. */
async function killProcesses(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await killProcesses(join(directory, entry.name));
  const processList = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => '');
  // A process in a different PID namespace is listed as 0.
  const pids = processList
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid);
  for (const pid of pids) sendSignal(pid, 'SIGKILL');
  // On cgroup v1, a frozen process exits only after it has been thawed. The flag `r+` prevents writeFile from creating
  // the file where it does not exist.
  if (pids.length > 0) await writeFile(join(directory, 'freezer.state'), 'THAWED', { flag: 'r+' }).catch(() => {});
}

/** Removes a cgroup after its descendants. Returns whether the cgroup no longer exists. */
async function removeCgroupTree(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeCgroupTree(join(directory, entry.name));
  return removeCgroup(directory);
}

function removeCgroup(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
