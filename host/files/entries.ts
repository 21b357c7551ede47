/**
 * Walks directory trees that containers can modify. Directory handles avoid problems with long paths and with symbolic
 * links.
 */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

/** A directory entry. The name is a `Buffer`, because a file name need not be valid UTF-8. */
export interface DirectoryEntry {
  readonly name: Buffer;
  readonly isDirectory: boolean;
}

/**
 * Yields the entries of an open directory. Reads them in small batches, because a directory may have any number of
 * entries.
 */
export async function* readEntries(fd: number): AsyncGenerator<DirectoryEntry> {
  // Safe casts, because Node.js supports this encoding and then returns names as buffers, although its types do not say
  // so.
  const bufferEncoding = { encoding: 'buffer' as BufferEncoding };
  for await (const entry of await opendir(`/proc/self/fd/${fd}`, bufferEncoding)) {
    const { name } = entry as unknown as Dirent<Buffer>;
    yield { name, isDirectory: entry.isDirectory() };
  }
}

/** Returns a path to an entry of an open directory. */
export const entryPath = (fd: number, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
