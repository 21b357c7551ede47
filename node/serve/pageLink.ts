/**
 * Reads and writes the file `statelet/page-link` below the root directory, which contains the link to the page with its
 * token. Only the agent's user can read it. The log contains no token, because other users may be able to read the log.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quarantine } from '../../host/files/setAside.ts';

/** Permission bits of the group and of others. */
const NOT_OWNER = 0o077;
const TOKEN = /^[\w-]{32}$/;

export const pageLinkPath = (rootDirectory: string): string => join(rootDirectory, 'statelet', 'page-link');

/**
 * Writes the link to a file that only its owner can read, and replaces the previous file atomically. If the path is a
 * directory, renames the directory and calls `onSetAside` with the new name.
 */
export async function writePageLink(
  path: string,
  url: string,
  onSetAside: (directory: string, renamedTo: string) => void = () => {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const next = `${path}.new`;
  for (const file of [path, next]) {
    const stats = await lstat(file).catch(() => undefined);
    if (stats?.isDirectory()) onSetAside(file, file + (await quarantine({ rename }, file)));
  }
  await rm(next, { force: true });
  // Exclusive creation does not follow symbolic links and does not write to another user's file.
  const handle = await open(next, 'wx', 0o600);
  try {
    await handle.writeFile(`${url}\n`).finally(() => handle.close());
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/**
 * Reads the token of the previous link, so that a page that is open in a browser keeps working after a restart of the
 * agent. Returns undefined if there is no such file, if another user could have read or written it, or if it contains
 * no token.
 */
export async function readPageToken(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      const isPrivate = stats.isFile() && stats.uid === process.getuid?.() && (stats.mode & NOT_OWNER) === 0;
      if (!isPrivate) return undefined;
      const token = URL.parse((await handle.readFile('utf8')).trim())?.searchParams.get('token') ?? '';
      return TOKEN.test(token) ? token : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    // `writePageLink` replaces a file that cannot be read, and reports the error if it cannot.
    return undefined;
  }
}
