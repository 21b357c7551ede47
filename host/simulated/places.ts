/** Resolves the paths of a simulated disk. */
import { resolve } from 'node:path';
import { type FileErrorCode, fileError } from './fileError.ts';
import type { Directory, Inode } from './inodes.ts';
import type { MountTable, SimulatedMount } from './mountTable.ts';

const MAX_LINKS = 40;
const MAX_NAME_LENGTH = 255;

/** A resolved path: the parent directory, the name of the last segment, and the inode at the path, if any. */
export interface ResolvedPath {
  readonly directory: Directory;
  readonly name: string;
  /** Path without links. */
  readonly path: string;
  readonly inode: Inode | undefined;
  /** The mount that contains the inode. Undefined for the disk itself. */
  readonly mount: SimulatedMount | undefined;
}

export interface ResolveOptions {
  /** Name of the system call, for errors. */
  readonly syscall: string;
  /** Whether a link at the end of the path is followed. */
  readonly shouldFollow: boolean;
}

interface MountedTree {
  readonly root: Directory;
  readonly mounts: MountTable;
}

/** Resolves a path. Its last segment need not exist. */
export function resolvePath(
  { root, mounts }: MountedTree,
  path: string,
  { syscall, shouldFollow }: ResolveOptions,
): ResolvedPath {
  const failure = (code: FileErrorCode) => fileError(code, syscall, path);
  const normalizedPath = UNNORMALIZED_PATTERN.test(path) ? resolve(path) : path;
  const originalNames = splitPath(normalizedPath);
  let names = originalNames;
  let directory = root;
  let currentMount: SimulatedMount | undefined;
  for (let index = 0, links = 0; ; ) {
    const name = names[index];
    if (name === undefined) return { directory, name: '.', path: '/', inode: directory, mount: currentMount };
    if (name.length > MAX_NAME_LENGTH) throw failure('ENAMETOOLONG');
    const isLastName = index === names.length - 1;
    const entry = directory.entries.get(name);
    const coveringMount = entry && mounts.findTopMount(entry, currentMount);
    const inode = coveringMount?.root ?? entry;
    if (inode?.kind === 'link' && (shouldFollow || !isLastName)) {
      links += 1;
      if (links > MAX_LINKS) throw failure('ELOOP');
      names = [...splitPath(resolve(joinPath(names.slice(0, index)), inode.target)), ...names.slice(index + 1)];
      [directory, currentMount, index] = [root, undefined, 0];
      continue;
    }
    currentMount = coveringMount ?? currentMount;
    if (isLastName)
      return {
        directory,
        name,
        path: names === originalNames ? normalizedPath : joinPath(names),
        inode,
        mount: currentMount,
      };
    if (inode === undefined) throw failure('ENOENT');
    if (inode.kind !== 'directory') throw failure('ENOTDIR');
    directory = inode;
    index += 1;
  }
}

export const isMountPoint = ({ path, mount }: ResolvedPath): boolean => mount?.path === path;

const joinPath = (names: readonly string[]): string => `/${names.join('/')}`;

/** Paths that must be normalized first, because they are relative or have empty or dot segments. */
const UNNORMALIZED_PATTERN = /^[^/]|^$|\/(\.{0,2}(\/|$))/;

/** Splits a normalized path into the names of its segments. */
const splitPath = (path: string): string[] => (path === '/' ? [] : path.slice(1).split('/'));
