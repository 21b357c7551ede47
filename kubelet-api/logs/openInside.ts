/** Opens what lies below a directory; links are followed as long as they stay there. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { messageOf } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { openWithin } from '../../host/files/safeOpen.ts';

export interface Inside {
  /** To be closed by the caller; only that of a file can be read. */
  readonly handle: FileHandle;
  readonly kind: 'file' | 'directory' | 'other';
  readonly stats: Stats;
  /** Its path without links. */
  readonly path: string;
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Nothing else than a plain file is opened to be read: who opens a pipe may wait for ever, and a device may do anything.
 * What its errors say tells nothing of what lies outside.
 */
export async function openInside(root: string, subPath: string): Promise<Inside> {
  const found = await openWithin(root, subPath, { make: false }).catch((cause: unknown) => {
    if (errorCode(cause) !== undefined) throw cause;
    const isDangling = messageOf(cause).endsWith('is a dangling symlink');
    if (isDangling) throw Object.assign(new Error(MISSING, { cause }), { code: 'ENOENT' });
    throw new Error('path escapes from parent', { cause });
  });
  try {
    const [stats, own] = [await found.stat(), `/proc/self/fd/${found.fd}`];
    const path = await readlink(own);
    if (!stats.isFile()) return { handle: found, kind: stats.isDirectory() ? 'directory' : 'other', stats, path };
    const handle = await open(own, READ);
    await found.close();
    return { handle, kind: 'file', stats, path };
  } catch (error) {
    await found.close();
    throw error;
  }
}

const MISSING = 'no such file or directory';
const WORDS = new Map([
  ['EACCES', 'permission denied'],
  ['EISDIR', 'is a directory'],
  ['ELOOP', 'too many levels of symbolic links'],
  ['EMFILE', 'too many open files'],
  ['ENAMETOOLONG', 'file name too long'],
  ['ENFILE', 'too many open files in system'],
  ['ENOENT', MISSING],
  ['ENOTDIR', 'not a directory'],
  ['EPERM', 'operation not permitted'],
]);

/** What went wrong in Go's words, without the names of files that Node.js adds. */
export const systemWords = (error: unknown): string => WORDS.get(errorCode(error) ?? '') ?? messageOf(error);
