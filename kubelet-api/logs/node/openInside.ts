/** Opens files below a directory. Follows symlinks only if they stay inside the directory. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { messageOf } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { openWithin } from '../../../host/files/safeOpen.ts';

export interface OpenedFile {
  /** A handle that the caller must close. Only the handle of a regular file is readable. */
  readonly handle: FileHandle;
  readonly kind: 'file' | 'directory' | 'other';
  readonly stats: Stats;
  /** The path without symlinks. */
  readonly path: string;
}

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Opens a file below a directory. Only regular files are opened for reading, because opening a pipe can block and
 * opening a device can have side effects. Errors reveal nothing about files outside of the directory.
 */
export async function openInside(root: string, subPath: string): Promise<OpenedFile> {
  const pathHandle = await openWithin(root, subPath, { shouldCreate: false }).catch((cause: unknown) => {
    if (errorCode(cause) !== undefined) throw cause;
    const isDangling = messageOf(cause).endsWith('is a dangling symlink');
    if (isDangling) throw Object.assign(new Error(MISSING_FILE_MESSAGE, { cause }), { code: 'ENOENT' });
    throw new Error('path escapes from parent', { cause });
  });
  try {
    const [stats, own] = [await pathHandle.stat(), `/proc/self/fd/${pathHandle.fd}`];
    const path = await readlink(own);
    if (!stats.isFile()) return { handle: pathHandle, kind: stats.isDirectory() ? 'directory' : 'other', stats, path };
    const handle = await open(own, READ_FLAGS);
    await pathHandle.close();
    return { handle, kind: 'file', stats, path };
  } catch (error) {
    await pathHandle.close();
    throw error;
  }
}

const MISSING_FILE_MESSAGE = 'no such file or directory';
const GO_MESSAGES = new Map([
  ['EACCES', 'permission denied'],
  ['EISDIR', 'is a directory'],
  ['ELOOP', 'too many levels of symbolic links'],
  ['EMFILE', 'too many open files'],
  ['ENAMETOOLONG', 'file name too long'],
  ['ENFILE', 'too many open files in system'],
  ['ENOENT', MISSING_FILE_MESSAGE],
  ['ENOTDIR', 'not a directory'],
  ['EPERM', 'operation not permitted'],
]);

/** Returns Go's message for a system error, without the file names that Node.js adds. */
export const systemErrorMessage = (error: unknown): string =>
  GO_MESSAGES.get(errorCode(error) ?? '') ?? messageOf(error);
