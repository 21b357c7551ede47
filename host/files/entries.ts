/** Walks trees that a container made: by handles of directories, so that no name is too long or a link by surprise. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

/** What is in a directory; its name in bytes, for it need not be text. */
export interface Entry {
  readonly name: Buffer;
  readonly isDirectory: boolean;
}

/** What the directory of a handle has, a few at a time, however many there are. */
export async function* entriesIn(fd: number): AsyncGenerator<Entry> {
  // Node.js takes this encoding, and then gives each name in bytes; its types do not say so.
  const inBytes = { encoding: 'buffer' as BufferEncoding };
  for await (const entry of await opendir(`/proc/self/fd/${fd}`, inBytes)) {
    const { name } = entry as unknown as Dirent<Buffer>;
    yield { name, isDirectory: entry.isDirectory() };
  }
}

/** A path to what has this name in the directory of a handle. */
export const within = (fd: number, name: Buffer): Buffer => Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
