import { access, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import type { Layout } from './layout.ts';
import { kill, type Pause } from './process.ts';

const cgroupRoot = '/sys/fs/cgroup';

const bundleSpec = z.object({ linux: z.object({ cgroupsPath: z.string() }) });

/** The cgroups that the containers of this containerd lie in: those of their pods. */
export async function podCgroups(layout: Layout): Promise<string[]> {
  const ids = await readdir(layout.bundles).catch(() => []);
  const cgroups = await Promise.all(ids.map((id) => cgroupOf(layout, id)));
  const parents = cgroups.map((path) => (path === undefined ? undefined : dirname(path)));
  return [...new Set(parents.flatMap((path) => (path === undefined || path === '/' || path === '.' ? [] : [path])))];
}

/** The cgroup of a container or sandbox; undefined when its bundle is half made or half removed. */
async function cgroupOf({ bundles }: Layout, id: string): Promise<string | undefined> {
  try {
    const spec = bundleSpec.parse(JSON.parse(await readFile(join(bundles, id, 'config.json'), 'utf8')));
    return spec.linux.cgroupsPath;
  } catch {
    return undefined;
  }
}

/** Kills all processes of a container or sandbox; its cgroup bears its id, and so is nobody else's. */
export async function killContainer(layout: Layout, id: string): Promise<void> {
  const path = await cgroupOf(layout, id);
  if (path === undefined || !path.endsWith(`/${id}`)) return;
  await Promise.all((await hierarchies()).map((hierarchy) => killBelow(join(hierarchy, path))));
}

/**
 * Removes a containerd's own cgroup with all below it and its pods' cgroups, in every hierarchy. What still runs in its
 * own, as what a start that was cut off has left, is killed. Processes that were killed may still be leaving: a busy cgroup is tried again for a while.
 */
export async function removeCgroups(own: string, pods: readonly string[], pause: Pause): Promise<void> {
  // A pod's cgroup may lie in another's tree: nothing but itself is removed there.
  const elsewhere = pods.filter((path) => !path.startsWith(`${own}/`));
  const remove = async (hierarchy: string) => {
    const remove = async () => {
      await killBelow(join(hierarchy, own));
      return removeTree(join(hierarchy, own));
    };
    await persist(remove, pause);
    for (const path of elsewhere) await persist(() => removeOne(join(hierarchy, path)), pause);
  };
  await Promise.all((await hierarchies()).map(remove));
}

/** Whether a containerd's own cgroup is there in any hierarchy. */
export async function hasCgroup(own: string): Promise<boolean> {
  const found = (await hierarchies()).map((hierarchy) =>
    access(join(hierarchy, own)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(found)).includes(true);
}

async function persist(remove: () => Promise<boolean>, pause: Pause): Promise<void> {
  for (let attempt = 0; attempt < 50 && !(await remove()); attempt++) await pause(20);
}

/** One root on cgroup v2, one a controller on v1 (and the hybrid layout's `unified`). */
async function hierarchies(): Promise<string[]> {
  const entries = await readdir(cgroupRoot, { withFileTypes: true });
  if (entries.some((entry) => entry.name === 'cgroup.controllers')) return [cgroupRoot];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(cgroupRoot, entry.name));
}

/** Kills what runs in a cgroup and below it. */
async function killBelow(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await killBelow(join(directory, entry.name));
  const text = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => '');
  // One that this process cannot see shows as 0.
  const pids = text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid);
  for (const pid of pids) kill(pid, 'SIGKILL');
  // On v1 what is frozen dies only when it is thawed; elsewhere there is no such file, and none is made.
  if (pids.length > 0) await writeFile(join(directory, 'freezer.state'), 'THAWED', { flag: 'r+' }).catch(() => {});
}

/** True when it is gone. A cgroup's files go with it, its children must go before. */
async function removeTree(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  return removeOne(directory);
}

function removeOne(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
