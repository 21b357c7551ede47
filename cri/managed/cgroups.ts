import { readdir, readFile, rmdir } from 'node:fs/promises';
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

/** Removes these cgroups with all below them, in every hierarchy; one that still has processes is tried again a while. */
export async function removeCgroups(paths: readonly string[], pause: Pause): Promise<void> {
  const attempts = 50;
  for (const hierarchy of await hierarchies()) {
    for (const path of paths) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        if (await removeTree(join(hierarchy, path))) break;
        await pause(20);
      }
    }
  }
}

/** One root on cgroup v2, one a controller on v1 (and the hybrid layout's `unified`). */
async function hierarchies(): Promise<string[]> {
  const entries = await readdir(cgroupRoot, { withFileTypes: true });
  if (entries.some((entry) => entry.name === 'cgroup.controllers')) return [cgroupRoot];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(cgroupRoot, entry.name));
}

/** True when it is gone. A cgroup's files go with it, its children must go before. */
async function removeTree(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return true;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  return rmdir(directory).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
