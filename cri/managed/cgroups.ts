import { access, readdir, readFile, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import type { Layout } from './layout.ts';
import type { Pause } from './process.ts';

const cgroupRoot = '/sys/fs/cgroup';

const bundleSpec = z.object({ linux: z.object({ cgroupsPath: z.string() }) });

/** The cgroups that the containers of this containerd lie in: those of their pods. */
export async function podCgroups(layout: Layout): Promise<string[]> {
  const bundles = join(layout.state, 'io.containerd.runtime.v2.task', 'k8s.io');
  const ids = await readdir(bundles).catch(() => []);
  const parents = await Promise.all(ids.map((id) => parentCgroup(join(bundles, id, 'config.json'))));
  return [...new Set(parents.flatMap((path) => (path === undefined || path === '/' || path === '.' ? [] : [path])))];
}

/** undefined when the bundle is half made or half removed. */
async function parentCgroup(bundle: string): Promise<string | undefined> {
  try {
    const spec = bundleSpec.parse(JSON.parse(await readFile(bundle, 'utf8')));
    return dirname(spec.linux.cgroupsPath);
  } catch {
    return undefined;
  }
}

/**
 * Removes a containerd's own cgroup with all below it and its pods' cgroups, in every hierarchy. Processes that were
 * killed may still be leaving: a busy cgroup is tried again for a while.
 */
export async function removeCgroups(own: string, pods: readonly string[], pause: Pause): Promise<void> {
  // A pod's cgroup may lie in another's tree: nothing but itself is removed there.
  const elsewhere = pods.filter((path) => !path.startsWith(`${own}/`));
  const remove = async (hierarchy: string) => {
    await persist(() => removeTree(join(hierarchy, own)), pause);
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
