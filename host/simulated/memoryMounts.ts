/** Queries the mounts of a simulated disk, as a substitute for the kernel's mount table. */
import { basename, dirname, join } from 'node:path';
import { isMissing } from '../files/fileErrors.ts';
import type { MountPoint } from '../files/mountPoint.ts';
import type { MemoryDisk } from './memoryDisk.ts';

/** Lists the mount points at a directory and below it, most recent mount first. */
export function mountsUnder(disk: MemoryDisk, directory: string): readonly MountPoint[] {
  const realPath = resolveParent(disk, directory);
  if (realPath === undefined) return [];
  const prefix = realPath === '/' ? '/' : `${realPath}/`;
  return disk.mounts
    .flatMap(({ path, type }) => (path === realPath || path.startsWith(prefix) ? [{ path, type }] : []))
    .reverse();
}

/** Returns the topmost mount at exactly this path, or undefined if there is none. */
export function findMountAt(disk: MemoryDisk, directory: string): MountPoint | undefined {
  const realPath = resolveParent(disk, directory);
  const mountedFileSystem = disk.mounts.findLast(({ path }) => path === realPath);
  return mountedFileSystem && { path: mountedFileSystem.path, type: mountedFileSystem.type };
}

/** Resolves the links in the parent directories of a path. */
function resolveParent(disk: MemoryDisk, directory: string): string | undefined {
  try {
    return join(disk.realPath(dirname(directory)), basename(directory));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
