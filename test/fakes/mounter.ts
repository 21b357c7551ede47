/** A fake mounter that mounts nothing. The mount point itself contains the files that the file system would. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hostMounter } from '../../volume/mount/hostMounter.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';

export function notedMounts(): Mounter {
  const mounts = new Map<string, string>();
  return {
    ...hostMounter,
    mount: async ({ target, type }) => {
      await mkdir(target, { recursive: true });
      mounts.set(target, type);
    },
    unmount: async (target) => {
      if (!mounts.delete(target)) return;
      for (const name of await readdir(target)) await rm(join(target, name), { recursive: true, force: true });
    },
    mountAt: async (path) => {
      const type = mounts.get(path);
      return type === undefined ? undefined : { path, type };
    },
  };
}
