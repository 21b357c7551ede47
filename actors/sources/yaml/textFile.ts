/** Reads files that somebody else has written: whatever lies there, it is read at once and to a bounded length. */
import { errorCode } from '../../../host/files/fileErrors.ts';
import { type FileStats, type FileSystem, NON_BLOCKING, type OpenFile } from '../../../host/files/fileSystem.ts';

/** The largest file in bytes that is read: an API server takes no larger object either. */
export const LARGEST_FILE = 1024 * 1024;

/** What a directory is said to be. */
export const A_DIRECTORY = 'a directory, not a file';

/** What was found at a path: a text, something that is no file, or nothing. */
export type FoundText = { readonly text: string; readonly mode: number } | { readonly noFile: string } | undefined;

/** A file's text (symlinks are followed). Throws when it can not be read. */
export async function readTextFile(files: FileSystem, file: string, signal?: AbortSignal): Promise<FoundText> {
  return orAbsent(async () => {
    // To open a device may already do something, and to open a FIFO may never end.
    const noFile = kindOf(await files.stat(file));
    if (noFile !== undefined) return { noFile };
    const handle = await files.open(file, NON_BLOCKING);
    try {
      return await textOf(handle, signal);
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

async function textOf(handle: OpenFile, signal: AbortSignal | undefined): Promise<FoundText> {
  const found = await handle.stat();
  const noFile = kindOf(found);
  if (noFile !== undefined) return { noFile };
  if (found.size > LARGEST_FILE) throw new Error(tooLargeFile(found.size));
  const bytes = await handle.readFile(signal ? { signal } : {});
  // It may have grown meanwhile.
  if (bytes.length > LARGEST_FILE) throw new Error(tooLargeFile(bytes.length));
  return { text: bytes.toString('utf8'), mode: found.mode };
}

const tooLargeFile = (size: number): string => `the file has ${size} bytes; the limit is ${LARGEST_FILE}`;

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
