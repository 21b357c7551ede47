/** The way into a volume on a disk in memory (C26): symlinks that stay within are followed. */
import { basename, dirname, join, relative } from 'node:path';
import { errorCode, isMissing } from '../../host/files/fileErrors.ts';
import { PRIVATE } from '../../host/pods/layout.ts';
import type { Inode } from '../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { mountAt } from '../../host/simulated/memoryMounts.ts';
import type { VolumeTask } from '../volumeTasks.ts';

type ReadTask = Extract<VolumeTask, { kind: 'read' }>;
type BindTask = Extract<VolumeTask, { kind: 'bind' }>;

/** All bits of a mode but the type of the file: permissions, setuid, setgid and sticky. */
const MODE_BITS = 0o7777;

/** Reads a file within a volume; undefined when there is none. Refuses what is no file, or larger than it may be. */
export function readWithin(disk: MemoryDisk, { hostPath, path, largest }: ReadTask): string | undefined {
  const found = orUndefined(isMissing, () => itself(disk, placeWithin(disk, hostPath, path).path));
  if (found === undefined) return undefined;
  if (found.kind !== 'file') throw new Error(`${path} is not a file`);
  if (found.data.length > largest) throw new Error(`${path} is larger than ${largest} bytes`);
  return found.data.toString('utf8');
}

/** Shows a part of a volume at a path of the pod's own; directories that are missing are made. Idempotent. */
export function bindWithin(disk: MemoryDisk, { hostPath, subPath, target }: BindTask): void {
  const { path: source, missing } = placeWithin(disk, hostPath, subPath);
  const { mode } = disk.at(hostPath, 'open');
  for (const directory of missing) disk.makeDirectory(directory, mode & MODE_BITS);
  const wanted = itself(disk, source);
  if (disk.find(target, 'stat') === wanted) return;
  clear(disk, target);
  makePlace(disk, target, wanted);
  disk.bind(source, target);
}

/** What is at a path that was resolved before. */
function itself(disk: MemoryDisk, path: string): Inode {
  const found = disk.at(path, 'open', { follow: false });
  if (found.kind === 'link') throw new Error(`${basename(path)} is a dangling symlink`);
  return found;
}

interface PlaceWithin {
  readonly path: string;
  /** What of it is to be made, from above. */
  readonly missing: readonly string[];
}

function placeWithin(disk: MemoryDisk, volume: string, subPath: string): PlaceWithin {
  const root = disk.realPath(volume);
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  for (let known = names.length; ; known -= 1) {
    const real = realPathOf(disk, join(root, ...names.slice(0, known)));
    if (real === undefined && known > 0) continue;
    const there = real ?? root;
    if (relative(root, there).split('/')[0] === '..') throw new Error(`${subPath} leads outside the volume`);
    const rest = names.slice(known);
    const below = rest.map((_, at) => join(there, ...rest.slice(0, at + 1)));
    // What is there all the same is a link to nothing.
    return { path: join(there, ...rest), missing: below.filter((path) => disk.find(path, 'open') === undefined) };
  }
}

const realPathOf = (disk: MemoryDisk, path: string): string | undefined =>
  orUndefined(
    (error) => errorCode(error) === 'ENOENT',
    () => disk.realPath(path),
  );

function clear(disk: MemoryDisk, target: string): void {
  while (mountAt(disk, target) !== undefined) disk.unmount(target);
  const found = disk.find(target, 'stat');
  if (found?.kind === 'directory') disk.removeDirectory(target);
  else if (found !== undefined) disk.unlink(target);
}

/** A directory is mounted on a directory, anything else on a file. */
function makePlace(disk: MemoryDisk, target: string, { kind }: Inode): void {
  disk.makeDirectories(kind === 'directory' ? target : dirname(target), PRIVATE);
  if (kind !== 'directory') disk.openFile(target, { mode: PRIVATE });
}

function orUndefined<T>(isExpected: (error: unknown) => boolean, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
