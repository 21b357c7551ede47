/** Reads files that somebody else has written: whatever lies there, it is read at once and to a bounded length. */
import { errorCode } from '../../../host/files/fileErrors.ts';
import { type FileStats, type FileSystem, NON_BLOCKING, type OpenFile } from '../../../host/files/fileSystem.ts';

/** The largest file in bytes that is read unless somebody says otherwise. */
export const LARGEST_FILE = 1024 * 1024;

/** A file has more bytes than were to be read. */
export class TooLargeFile extends Error {
  override readonly name = 'TooLargeFile';
}

interface ReadOptions {
  readonly signal?: AbortSignal;
  /** The largest file in bytes. */
  readonly largest?: number;
}

/** What a directory is said to be. */
export const A_DIRECTORY = 'a directory, not a file';

/** What was found at a path: a text, something that is no file, or nothing. */
export type FoundText =
  | { readonly text: string; readonly mode: number; readonly ino: number }
  | { readonly noFile: string }
  | undefined;

/** A file's text (symlinks are followed). Throws when it can not be read, a `TooLargeFile` where it is too large. */
export async function readTextFile(files: FileSystem, file: string, options: ReadOptions = {}): Promise<FoundText> {
  return orAbsent(async () => {
    // To open a device may already do something, and to open a FIFO may never end.
    const noFile = kindOf(await files.stat(file));
    if (noFile !== undefined) return { noFile };
    const handle = await files.open(file, NON_BLOCKING);
    try {
      return await textOf(handle, options);
    } finally {
      await handle.close();
    }
  });
}

/** What these say of a file stays so until somebody changes it. */
const LASTING: ReadonlySet<string> = new Set(['ELOOP', 'ENAMETOOLONG', 'EISDIR', 'EINVAL', 'ENXIO', 'ENODEV']);

/** Whether a file could not be read for a cause beside it, as on a broken disk: nobody knows what is in it. */
export function isUnread(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && !LASTING.has(code);
}

async function textOf(handle: OpenFile, { signal, largest = LARGEST_FILE }: ReadOptions): Promise<FoundText> {
  const found = await handle.stat();
  const noFile = kindOf(found);
  if (noFile !== undefined) return { noFile };
  if (found.size > largest) throw tooLarge(found.size, largest);
  const bytes = await handle.readFile(signal ? { signal } : {});
  // It may have grown meanwhile.
  if (bytes.length > largest) throw tooLarge(bytes.length, largest);
  return { text: bytes.toString('utf8'), mode: found.mode, ino: found.ino };
}

const tooLarge = (size: number, largest: number): TooLargeFile =>
  new TooLargeFile(`the file has ${size} bytes; the limit is ${largest}`);

/** What something is that is no regular file, and why it is not read. */
function kindOf(found: FileStats): string | undefined {
  if (found.isFile()) return undefined;
  if (found.isDirectory()) return A_DIRECTORY;
  if (found.isFIFO()) return 'a FIFO, not a file';
  return found.isSocket() ? 'a socket, not a file' : 'a device, not a file';
}

/** What a look finds; undefined when nothing is there. */
export async function orAbsent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
