/**
 * The way into a volume (C26). Whoever writes into it may put symlinks there, also while this is at work: so it goes down
 * by handles of directories, one name at a time, and follows none.
 */
import { createReadStream } from 'node:fs';
import { chmod, constants, type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { errorCode, isMissing } from './fileErrors.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** A handle to a name itself: nothing is read, no device or pipe is opened. Linux has it, Node.js does not name it. */
export const O_PATH = 0o10000000;
const PRIVATE = 0o750;
/** All bits of a mode but the type of the file: permissions, setuid, setgid and sticky. */
const MODE_BITS = 0o7777n;

/**
 * Opens a path within a volume, to be closed by the caller. Symlinks that stay within are followed. With `make`, missing
 * directories are created with the mode of the volume, including setgid and sticky (`doSafeMakeDir` in
 * `pkg/volume/util/subpath/subpath_linux.go`).
 */
export async function openWithin(
  volume: string,
  subPath: string,
  { make }: { readonly make: boolean },
): Promise<FileHandle> {
  const root = await realpath(volume);
  return descend(root, await resolved(root, subPath), make);
}

/** Reads a file within a volume; undefined when there is none. Refuses what is no file, or larger than it may be. */
export async function readInside(volume: string, subPath: string, largest: number): Promise<string | undefined> {
  const handle = await openWithin(volume, subPath, { make: false }).catch(unlessAbsent);
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error(`${subPath} is not a file`);
    // Not by its size: whoever writes it may make it grow meanwhile.
    const text = await readStart(`/proc/self/fd/${handle.fd}`, largest + 1);
    if (text.length > largest) throw new Error(`${subPath} is larger than ${largest} bytes`);
    return text.toString('utf8');
  } finally {
    await handle.close();
  }
}

async function readStart(file: string, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of createReadStream(file, { end: most - 1 })) parts.push(part);
  return Buffer.concat(parts);
}

function unlessAbsent(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** The names that lead to a path within the volume once its symlinks are followed; the last ones may be missing. */
async function resolved(root: string, subPath: string): Promise<string[]> {
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  for (let known = names.length; ; known -= 1) {
    const real = await realPathOf(path.join(root, ...names.slice(0, known)));
    if (real === undefined && known > 0) continue;
    const inside = path.relative(root, real ?? root).split('/');
    if (inside[0] === '..') throw new Error(`${subPath} leads outside the volume`);
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

/** Opens the names one below the other, each by the handle of its parent. */
async function descend(root: string, names: readonly string[], make: boolean): Promise<FileHandle> {
  let here = await open(root, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  try {
    const { mode } = await here.stat({ bigint: true });
    for (const name of names) {
      const next = await enter(`/proc/self/fd/${here.fd}/${name}`, name, make ? mode & MODE_BITS : undefined);
      await here.close();
      here = next;
    }
    return here;
  } catch (error) {
    await here.close();
    throw error;
  }
}

/** Opens one name. With `mode`, a missing one is created as a directory of that mode. */
async function enter(file: string, name: string, mode: bigint | undefined): Promise<FileHandle> {
  const made = mode !== undefined && (await makeMissing(file));
  const handle = await open(file, O_PATH | O_NOFOLLOW);
  try {
    const found = await handle.stat({ bigint: true });
    if (found.isSymbolicLink()) throw new Error(`${name} is a dangling symlink`);
    // By its handle: whatever has this name meanwhile, this is what was opened.
    if (made && found.isDirectory()) await chmod(`/proc/self/fd/${handle.fd}`, Number(mode));
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
