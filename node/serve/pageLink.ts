/**
 * Reads and writes the file `statelet/page-link` below the root directory, which contains the link to the page with its
 * token. Only the agent's user can read this file. The token is never written to the log, because other users may be
 * able to read the log.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quarantineFile } from '../../host/files/quarantineFile.ts';

/** Permission bits of the group and of others. */
const GROUP_AND_OTHERS_MODE = 0o077;
const TOKEN_PATTERN = /^[\w-]{32}$/;

export const pageLinkPath = (rootDirectory: string): string => join(rootDirectory, 'statelet', 'page-link');

/**
 * Writes the link to a file that only its owner can read, and replaces the previous file atomically. If the path is a
 * directory, renames the directory and calls `onRenamed` with the new name.
 */
export async function writePageLink(
  path: string,
  url: string,
  onRenamed: (directory: string, renamedTo: string) => void = () => {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const temporaryPath = `${path}.new`;
  for (const file of [path, temporaryPath]) {
    const stats = await lstat(file).catch(() => undefined);
    if (stats?.isDirectory()) onRenamed(file, file + (await quarantineFile({ rename }, file)));
  }
  await rm(temporaryPath, { force: true });
  // Create the file exclusively, so that the write neither follows a symbolic link nor reaches another user's file.
  const fileHandle = await open(temporaryPath, 'wx', 0o600);
  try {
    await fileHandle.writeFile(`${url}\n`).finally(() => fileHandle.close());
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
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
    const fileHandle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await fileHandle.stat();
      const isOwnerOnlyFile =
        stats.isFile() && stats.uid === process.getuid?.() && (stats.mode & GROUP_AND_OTHERS_MODE) === 0;
      if (!isOwnerOnlyFile) return undefined;
      const token = URL.parse((await fileHandle.readFile('utf8')).trim())?.searchParams.get('token') ?? '';
      return TOKEN_PATTERN.test(token) ? token : undefined;
    } finally {
      await fileHandle.close();
    }
  } catch {
    // Ignore the error, because `writePageLink` will replace the unreadable file or report why it cannot.
    return undefined;
  }
}
