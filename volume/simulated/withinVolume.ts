/** Resolves paths in volumes on a simulated disk (C26). Symbolic links are followed if they stay inside the volume. */
import { basename, dirname, join, relative } from 'node:path';
import { errorCode, isMissing } from '../../host/files/fileErrors.ts';
import { PRIVATE_MODE } from '../../host/pods/layout.ts';
import type { Inode } from '../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { findMountAt } from '../../host/simulated/memoryMounts.ts';
import type { VolumeTask } from '../volumeTasks.ts';

type ReadTask = Extract<VolumeTask, { kind: 'read' }>;
type BindTask = Extract<VolumeTask, { kind: 'bind' }>;

/** Mode bits without the file type: permissions, setuid, setgid and sticky. */
const MODE_BITS = 0o7777;

/**
 * Reads a file in a volume. Returns undefined if it does not exist. Throws if it is too large or not a regular file.
 */
export function readFileInVolume(disk: MemoryDisk, { hostPath, path, maxBytes }: ReadTask): string | undefined {
  const file = undefinedIf(isMissing, () => getResolvedInode(disk, resolveSubPath(disk, hostPath, path).path));
  if (file === undefined) return undefined;
  if (file.kind !== 'file') throw new Error(`${path} is not a file`);
  if (file.data.length > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
  return file.data.toString('utf8');
}

/** Bind-mounts a subPath at `target`. Creates missing directories. Idempotent. */
export function bindSubPathInVolume(disk: MemoryDisk, { hostPath, subPath, target }: BindTask): void {
  const { path: source, missingDirectories } = resolveSubPath(disk, hostPath, subPath);
  const { mode } = disk.inodeAt(hostPath, 'open');
  for (const directory of missingDirectories) disk.makeDirectory(directory, mode & MODE_BITS);
  const sourceInode = getResolvedInode(disk, source);
  if (disk.find(target, 'stat') === sourceInode) return;
  clearTarget(disk, target);
  createMountPoint(disk, target, sourceInode);
  disk.bind(source, target);
}

/**
 * Returns the inode at a resolved path. Throws if the path is still a symbolic link, which means that the link is
 * dangling.
 */
function getResolvedInode(disk: MemoryDisk, path: string): Inode {
  const inode = disk.inodeAt(path, 'open', { follow: false });
  if (inode.kind === 'link') throw new Error(`${basename(path)} is a dangling symlink`);
  return inode;
}

interface ResolvedPath {
  readonly path: string;
  /** Directories to create, outermost first. */
  readonly missingDirectories: readonly string[];
}

function resolveSubPath(disk: MemoryDisk, volume: string, subPath: string): ResolvedPath {
  const root = disk.realPath(volume);
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  for (let existingCount = names.length; ; existingCount -= 1) {
    const realPath = findRealPath(disk, join(root, ...names.slice(0, existingCount)));
    if (realPath === undefined && existingCount > 0) continue;
    const existingPath = realPath ?? root;
    if (relative(root, existingPath).split('/')[0] === '..') throw new Error(`${subPath} leads outside the volume`);
    const missingNames = names.slice(existingCount);
    const missingPaths = missingNames.map((_, index) => join(existingPath, ...missingNames.slice(0, index + 1)));
    // Exclude a dangling symbolic link, because it exists although its path could not be resolved.
    return {
      path: join(existingPath, ...missingNames),
      missingDirectories: missingPaths.filter((path) => disk.find(path, 'open') === undefined),
    };
  }
}

const findRealPath = (disk: MemoryDisk, path: string): string | undefined =>
  undefinedIf(
    (error) => errorCode(error) === 'ENOENT',
    () => disk.realPath(path),
  );

function clearTarget(disk: MemoryDisk, target: string): void {
  while (findMountAt(disk, target) !== undefined) disk.unmount(target);
  const existingTarget = disk.find(target, 'stat');
  if (existingTarget?.kind === 'directory') disk.removeDirectory(target);
  else if (existingTarget !== undefined) disk.unlink(target);
}

/** Creates the mount point. A directory is mounted on a directory and anything else on a file. */
function createMountPoint(disk: MemoryDisk, target: string, { kind }: Inode): void {
  disk.createDirectories(kind === 'directory' ? target : dirname(target), PRIVATE_MODE);
  if (kind !== 'directory') disk.openFile(target, { mode: PRIVATE_MODE });
}

function undefinedIf<T>(isExpected: (error: unknown) => boolean, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
