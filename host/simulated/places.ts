/** Resolves the paths of a simulated disk. */
import { resolve } from 'node:path';
import { type FileErrorCode, fileError } from './fileErrors.ts';
import type { Directory, Inode } from './inodes.ts';
import type { Mounted, MountTable } from './mountTable.ts';

const MAX_LINKS = 40;
const MAX_NAME_LENGTH = 255;

/** A resolved path: the parent directory, the last name, and the inode there. */
export interface ResolvedPath {
  readonly directory: Directory;
  readonly name: string;
  /** Path without links. */
  readonly path: string;
  readonly inode: Inode | undefined;
  /** The mount that contains the inode. Undefined for the disk itself. */
  readonly mount: Mounted | undefined;
}

export interface ResolveOptions {
  /** Name of the system call, for errors. */
  readonly syscall: string;
  /** Whether a link at the end of the path is followed. */
  readonly follow: boolean;
}

interface MountedTree {
  readonly root: Directory;
  readonly mounts: MountTable;
}

/** Resolves a path. The last name need not exist. */
export function resolvePath(
  { root, mounts }: MountedTree,
  path: string,
  { syscall, follow }: ResolveOptions,
): ResolvedPath {
  const failure = (code: FileErrorCode) => fileError(code, syscall, path);
  const normalized = NEEDS_NORMALIZATION.test(path) ? resolve(path) : path;
  const originalNames = splitPath(normalized);
  let names = originalNames;
  let directory = root;
  let mount: Mounted | undefined;
  for (let index = 0, links = 0; ; ) {
    const name = names[index];
    if (name === undefined) return { directory, name: '.', path: '/', inode: directory, mount };
    if (name.length > MAX_NAME_LENGTH) throw failure('ENAMETOOLONG');
    const isLast = index === names.length - 1;
    const entry = directory.entries.get(name);
    const mounted = entry && mounts.top(entry, mount);
    const inode = mounted?.root ?? entry;
    if (inode?.kind === 'link' && (follow || !isLast)) {
      links += 1;
      if (links > MAX_LINKS) throw failure('ELOOP');
      names = [...splitPath(resolve(joinPath(names.slice(0, index)), inode.target)), ...names.slice(index + 1)];
      [directory, mount, index] = [root, undefined, 0];
      continue;
    }
    mount = mounted ?? mount;
    if (isLast) return { directory, name, path: names === originalNames ? normalized : joinPath(names), inode, mount };
    if (inode === undefined) throw failure('ENOENT');
    if (inode.kind !== 'directory') throw failure('ENOTDIR');
    directory = inode;
    index += 1;
  }
}

/** Whether the path is a mount point. */
export const isMountPoint = ({ path, mount }: ResolvedPath): boolean => mount?.path === path;

const joinPath = (names: readonly string[]): string => `/${names.join('/')}`;

/** Paths that must be normalized first, because they are relative or have empty or dot segments. */
const NEEDS_NORMALIZATION = /^[^/]|^$|\/(\.{0,2}(\/|$))/;

/** Splits a normalized path into names. */
const splitPath = (path: string): string[] => (path === '/' ? [] : path.slice(1).split('/'));
