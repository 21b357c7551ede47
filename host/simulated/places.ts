/** Finds what the paths of a disk in memory lead to. */
import { resolve } from 'node:path';
import { type FileErrorCode, fileError } from './fileErrors.ts';
import type { Directory, Inode } from './inodes.ts';
import type { Mounted, MountTable } from './mountTable.ts';

const MOST_LINKS = 40;
const LONGEST_NAME = 255;

/** Where a path leads: the directory that its last name is in, and what is there. */
export interface Place {
  readonly directory: Directory;
  readonly name: string;
  /** Without links on the way. */
  readonly path: string;
  readonly found: Inode | undefined;
  /** The mount that it is in; absent for the disk itself. */
  readonly within: Mounted | undefined;
}

/** For which call, and whether a link at the end is followed. */
export interface Walk {
  readonly syscall: string;
  readonly follow: boolean;
}

interface Tree {
  readonly root: Directory;
  readonly mounts: MountTable;
}

/** Walks a path to its last name, which need not be there. */
export function placeOf({ root, mounts }: Tree, path: string, { syscall, follow }: Walk): Place {
  const fail = (code: FileErrorCode) => fileError(code, syscall, path);
  const whole = IS_ODD.test(path) ? resolve(path) : path;
  const given = namesOf(whole);
  let names = given;
  let directory = root;
  let within: Mounted | undefined;
  for (let at = 0, links = 0; ; ) {
    const name = names[at];
    if (name === undefined) return { directory, name: '.', path: '/', found: directory, within };
    if (name.length > LONGEST_NAME) throw fail('ENAMETOOLONG');
    const isLast = at === names.length - 1;
    const own = directory.entries.get(name);
    const on = own && mounts.top(own, within);
    const found = on?.root ?? own;
    if (found?.kind === 'link' && (follow || !isLast)) {
      links += 1;
      if (links > MOST_LINKS) throw fail('ELOOP');
      names = [...namesOf(resolve(pathOf(names.slice(0, at)), found.target)), ...names.slice(at + 1)];
      [directory, within, at] = [root, undefined, 0];
      continue;
    }
    within = on ?? within;
    if (isLast) return { directory, name, path: names === given ? whole : pathOf(names), found, within };
    if (found === undefined) throw fail('ENOENT');
    if (found.kind !== 'directory') throw fail('ENOTDIR');
    directory = found;
    at += 1;
  }
}

/** Whether something is mounted there itself. */
export const isMountPoint = ({ path, within }: Place): boolean => within?.path === path;

const pathOf = (names: readonly string[]): string => `/${names.join('/')}`;

/** What has to be resolved before it is taken apart: parts that are dots or nothing, or a working directory. */
const IS_ODD = /^[^/]|^$|\/(\.{0,2}(\/|$))/;

/** Of a path that is not odd, but the root may be. */
const namesOf = (path: string): string[] => (path === '/' ? [] : path.slice(1).split('/'));
