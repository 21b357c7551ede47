/**
 * What containers mount of a volume that is not the whole of it (C26). Whoever writes into the volume may put symlinks
 * there, also while this is at work: so it goes down by handles of directories, one name at a time, follows none, and
 * mounts what it holds in its hand.
 */
import type { BigIntStats } from 'node:fs';
import { chmod, constants, type FileHandle, mkdir, open, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, isMissing, messageOf } from './fileErrors.ts';
import type { Layout } from './layout.ts';
import { bindHandle, unmount } from './mounter.ts';
import { mountAt, mountsUnder } from './mountinfo.ts';
import { removeTree } from './removeTree.ts';

/** A part of a volume that a container mounts. */
interface SubPath {
  readonly volume: string;
  /** Where the volume lies on the host. */
  readonly hostPath: string;
  /** Relative, and never upwards. */
  readonly subPath: string;
  /** Which of the container's mounts it is. */
  readonly index: number;
}

interface SubPathBind extends SubPath {
  readonly layout: Layout;
  readonly podUid: string;
  readonly container: string;
  readonly signal: AbortSignal;
}

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** A handle to a name itself: nothing is read, no device or pipe is opened. Linux has it, Node.js does not name it. */
const O_PATH = 0o10000000;
const PRIVATE = 0o750;
const RIGHTS = 0o777n;
const SPECIAL_RIGHTS = 0o7000n;
/** The folders below `volume-subpaths`: volume, container, index. */
const DEPTH = 3;

/**
 * Mounts a part of a volume at a path of the pod's own, which can be given to the runtime; directories that are missing
 * are made, with the rights of the volume. Idempotent: what is mounted there and is still the same stays.
 */
export async function bindSubPath(bind: SubPathBind): Promise<string> {
  const target = bind.layout.subPathDir(bind.podUid, bind.volume, bind.container, bind.index);
  const root = await realpath(bind.hostPath);
  const names = await resolved(root, bind.subPath);
  const handle = await descend(root, names);
  try {
    await mountAtPlace(handle, target, bind.signal);
  } finally {
    await handle.close();
  }
  return target;
}

async function mountAtPlace(handle: FileHandle, target: string, signal: AbortSignal): Promise<void> {
  const found = await handle.stat({ bigint: true });
  if (await isAt(target, found)) return;
  await clear(target, signal);
  await makePlace(target, found.isDirectory());
  await bindHandle(handle.fd, target, signal);
  if (!(await isAt(target, found))) throw new Error(`something else is mounted at ${target}`);
}

/** Unmounts the parts of a volume that containers of a pod mounted, or those of all its volumes. Idempotent. */
export async function removeSubPaths(
  layout: Layout,
  { podUid, volume }: { readonly podUid: string; readonly volume?: string },
  signal: AbortSignal,
): Promise<void> {
  const all = layout.subPathsDir(podUid);
  const below = volume === undefined ? all : layout.subPathsOf(podUid, volume);
  const mounts = await mountsUnder(below, signal);
  const base = mounts.length > 0 ? await realpath(all) : all;
  for (const mounted of mounts) {
    // What is mounted further in came there by others, and is theirs.
    if (path.relative(base, mounted.path).split('/').length === DEPTH) await unmount(mounted.path, signal);
  }
  await removeTree(below, signal);
}

/** The names that lead to a path within the volume once its symlinks are followed; the last ones may be missing. */
async function resolved(root: string, subPath: string): Promise<string[]> {
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  for (let known = names.length; ; known -= 1) {
    const real = await realPathOf(path.join(root, ...names.slice(0, known)));
    if (real === undefined && known > 0) continue;
    const inside = path.relative(root, real ?? root).split('/');
    if (inside[0] === '..') throw new Error(`${subPath} leads outside of the volume`);
    return [...inside.filter((name) => name !== ''), ...names.slice(known)];
  }
}

async function realPathOf(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens what the names lead to, making the directories that are missing. */
async function descend(root: string, names: readonly string[]): Promise<FileHandle> {
  let here = await open(root, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  try {
    const { mode } = await here.stat({ bigint: true });
    for (const name of names) {
      const next = await enter(`/proc/self/fd/${here.fd}/${name}`, name, mode & RIGHTS);
      await here.close();
      here = next;
    }
    return here;
  } catch (error) {
    await here.close();
    throw error;
  }
}

async function enter(file: string, name: string, rights: bigint): Promise<FileHandle> {
  const made = await makeMissing(file);
  const handle = await open(file, O_PATH | O_NOFOLLOW);
  try {
    const found = await handle.stat({ bigint: true });
    if (found.isSymbolicLink()) throw new Error(`${name} is a symlink that leads nowhere, or became one just now`);
    // By its handle: whatever has this name meanwhile, this is what was opened.
    if (made && found.isDirectory()) {
      await chmod(`/proc/self/fd/${handle.fd}`, Number((found.mode & SPECIAL_RIGHTS) | rights));
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Makes a directory where there is nothing; says whether it did. */
async function makeMissing(file: string): Promise<boolean> {
  try {
    await mkdir(file, { mode: PRIVATE });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw new Error(messageOf(error), { cause: error });
  }
}

/** Whether a path shows the very file or directory. */
async function isAt(target: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const shown = await stat(target, { bigint: true }).catch(unlessMissing);
  return shown?.dev === dev && shown.ino === ino;
}

async function clear(target: string, signal: AbortSignal): Promise<void> {
  while ((await mountAt(target, signal)) !== undefined) await unmount(target, signal);
  // Only the empty place itself: should anything be mounted on it again, nothing of that may go.
  await ((await isDirectory(target)) ? rmdir(target) : unlink(target)).catch(unlessMissing);
}

async function isDirectory(file: string): Promise<boolean> {
  const found = await stat(file).catch(unlessMissing);
  return found?.isDirectory() ?? false;
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** A directory is mounted on a directory, anything else on a file. */
async function makePlace(target: string, forDirectory: boolean): Promise<void> {
  await mkdir(forDirectory ? target : path.dirname(target), { recursive: true, mode: PRIVATE });
  if (!forDirectory) await (await open(target, 'a', PRIVATE)).close();
}
