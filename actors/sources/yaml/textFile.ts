/** Reads whole text files that were written by other programs or users, up to a maximum size. */
import { errorCode } from '../../../host/files/fileErrors.ts';
import { type FileStats, type FileSystem, NON_BLOCKING, type OpenFile } from '../../../host/files/fileSystem.ts';

/** Default maximum size of a file in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** Thrown if a file exceeds the maximum size. */
export class TooLargeFile extends Error {
  override readonly name = 'TooLargeFile';
}

interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Maximum size of the file in bytes. */
  readonly maxBytes?: number;
}

/** Describes a directory in messages. */
export const DIRECTORY_NOT_FILE = 'a directory, not a file';

/**
 * The result of reading a path: the content of a file, a description of a non-regular file, or undefined if nothing
 * exists there.
 */
export type TextFile =
  | { readonly text: string; readonly mode: number; readonly ino: number }
  | { readonly noFile: string }
  | undefined;

/**
 * Reads a file and follows symbolic links. Throws if the file cannot be read, and a `TooLargeFile` if it is too large.
 */
export async function readTextFile(files: FileSystem, file: string, options: ReadOptions = {}): Promise<TextFile> {
  return undefinedIfMissing(async () => {
    // Check the type before opening the file, because opening a device may have side effects, and opening a FIFO may
    // block forever.
    const fileType = describeFileType(await files.stat(file));
    if (fileType !== undefined) return { noFile: fileType };
    const fileHandle = await files.open(file, NON_BLOCKING);
    try {
      return await readText(fileHandle, options);
    } finally {
      await fileHandle.close();
    }
  });
}

/** Error codes that persist until the file is changed. */
const PERMANENT_ERRORS: ReadonlySet<string> = new Set(['ELOOP', 'ENAMETOOLONG', 'EISDIR', 'EINVAL', 'ENXIO', 'ENODEV']);

/**
 * Whether a file could not be read for a reason other than the file itself, e.g. a disk error. In this case, the file's
 * content is unknown.
 */
export function isReadFailure(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && !PERMANENT_ERRORS.has(code);
}

async function readText(handle: OpenFile, { signal, maxBytes = MAX_FILE_BYTES }: ReadOptions): Promise<TextFile> {
  const stats = await handle.stat();
  const fileType = describeFileType(stats);
  if (fileType !== undefined) return { noFile: fileType };
  if (stats.size > maxBytes) throw createTooLargeError(stats.size, maxBytes);
  const bytes = await handle.readFile(signal ? { signal } : {});
  // Check the size again, because the file may have grown since its size was read.
  if (bytes.length > maxBytes) throw createTooLargeError(bytes.length, maxBytes);
  return { text: bytes.toString('utf8'), mode: stats.mode, ino: stats.ino };
}

const createTooLargeError = (size: number, maxBytes: number): TooLargeFile =>
  new TooLargeFile(`the file has ${size} bytes; the limit is ${maxBytes}`);

/** Describes a file that is not a regular file. Returns undefined for a regular file. */
function describeFileType(stats: FileStats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return DIRECTORY_NOT_FILE;
  if (stats.isFIFO()) return 'a FIFO, not a file';
  return stats.isSocket() ? 'a socket, not a file' : 'a device, not a file';
}

/** Returns the result of `call`, or undefined if the file does not exist. */
export async function undefinedIfMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
