/** Looks at what is mounted in a disk in memory, as the kernel's list of mounts shows it. */
import { basename, dirname, join } from 'node:path';
import { isMissing } from '../files/fileErrors.ts';
import type { MountPoint } from '../files/mountPoint.ts';
import type { MemoryDisk } from './memoryDisk.ts';

/** The mount points at a directory and below it, the last mounted first. */
export function mountsUnder(disk: MemoryDisk, directory: string): readonly MountPoint[] {
  const real = resolved(disk, directory);
  if (real === undefined) return [];
  const inside = real === '/' ? '/' : `${real}/`;
  return disk.mounts
    .flatMap(({ path, type }) => (path === real || path.startsWith(inside) ? [{ path, type }] : []))
    .reverse();
}

/** What is mounted at a path itself: of several mounts the visible one, undefined when there is none. */
export function mountAt(disk: MemoryDisk, directory: string): MountPoint | undefined {
  const real = resolved(disk, directory);
  const found = disk.mounts.findLast(({ path }) => path === real);
  return found && { path: found.path, type: found.type };
}

/** Where a path leads, but for what it is itself. */
function resolved(disk: MemoryDisk, directory: string): string | undefined {
  try {
    return join(disk.realPath(dirname(directory)), basename(directory));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
