/**
 * Opens paths in volumes (C26). Containers may create symbolic links in a volume at any time, so paths are opened
 * segment by segment through directory handles, without following links.
 */
import { createReadStream } from 'node:fs';
import { chmod, constants, type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { errorCode, isMissing } from './fileErrors.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/**
 * Flag that opens a handle to a path without opening the file, device or pipe itself. Linux supports it, but Node.js
 * has no constant for it.
 */
export const O_PATH = 0o10000000;
const PRIVATE_MODE = 0o750;
/** Mode bits without the file type: permissions, setuid, setgid and sticky. */
const MODE_BITS = 0o7777n;

/**
 * Opens a path in a volume. The caller must close the handle. Symbolic links that stay inside the volume are followed.
 * With `shouldCreate`, missing directories are created with the mode of the volume, including setgid and sticky
 * (`doSafeMakeDir` in `pkg/volume/util/subpath/subpath_linux.go`).
 */
export async function openWithin(
  volume: string,
  subPath: string,
  { shouldCreate: create }: { readonly shouldCreate: boolean },
): Promise<FileHandle> {
  const root = await realpath(volume);
  return openNames(root, await resolveNames(root, subPath), create);
}

/**
 * Reads a file in a volume. Returns undefined if it does not exist. Throws if it is not a regular file or is too large.
 */
export async function readFileWithin(volume: string, subPath: string, maxBytes: number): Promise<string | undefined> {
  const handle = await openWithin(volume, subPath, { shouldCreate: false }).catch(undefinedIfMissing);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${subPath} is not a file`);
    // The size in `stats` is not sufficient, because the file may grow in the meantime.
    const contents = await readFileStart(`/proc/self/fd/${handle.fd}`, maxBytes + 1);
    if (contents.length > maxBytes) throw new Error(`${subPath} is larger than ${maxBytes} bytes`);
    return contents.toString('utf8');
  } finally {
    await handle.close();
  }
}

async function readFileStart(file: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(file, { end: maxBytes - 1 })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/**
 * Resolves the symbolic links in a path and returns the names of its segments relative to the root. The last segments
 * need not exist.
 */
async function resolveNames(root: string, subPath: string): Promise<string[]> {
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  for (let existingCount = names.length; ; existingCount -= 1) {
    const realPath = await resolveExisting(path.join(root, ...names.slice(0, existingCount)));
    if (realPath === undefined && existingCount > 0) continue;
    const relativeNames = path.relative(root, realPath ?? root).split('/');
    if (relativeNames[0] === '..') throw new Error(`${subPath} leads outside the volume`);
    return [...relativeNames.filter((name) => name !== ''), ...names.slice(existingCount)];
  }
}

async function resolveExisting(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens the segments of a path one after the other, each through the handle of its parent. */
async function openNames(root: string, names: readonly string[], shouldCreate: boolean): Promise<FileHandle> {
  let currentHandle = await open(root, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  try {
    const { mode } = await currentHandle.stat({ bigint: true });
    for (const name of names) {
      const nextHandle = await openName(
        `/proc/self/fd/${currentHandle.fd}/${name}`,
        name,
        shouldCreate ? mode & MODE_BITS : undefined,
      );
      await currentHandle.close();
      currentHandle = nextHandle;
    }
    return currentHandle;
  } catch (error) {
    await currentHandle.close();
    throw error;
  }
}

/** Opens one segment of a path. With `mode`, a missing directory is created with this mode. */
async function openName(file: string, name: string, mode: bigint | undefined): Promise<FileHandle> {
  const wasCreated = mode !== undefined && (await createIfMissing(file));
  const handle = await open(file, O_PATH | O_NOFOLLOW);
  try {
    const stats = await handle.stat({ bigint: true });
    if (stats.isSymbolicLink()) throw new Error(`${name} is a dangling symlink`);
    // Use the handle, because a different file may have this name in the meantime.
    if (wasCreated && stats.isDirectory()) await chmod(`/proc/self/fd/${handle.fd}`, Number(mode));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Creates a directory and returns whether it did not exist before. */
async function createIfMissing(file: string): Promise<boolean> {
  try {
    await mkdir(file, { mode: PRIVATE_MODE });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw new Error(messageOf(error), { cause: error });
  }
}
