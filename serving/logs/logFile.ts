/** Opens the file of a container's log, within the directories that logs may lie in. */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { isMissing } from '../../host/files/fileErrors.ts';
import { openWithin } from '../../host/files/safeOpen.ts';
import { messageOf } from '../../pod/failure.ts';
import { quoted } from '../../pod/show/quoted.ts';
import { systemWords } from './systemWords.ts';

export interface LogFile {
  readonly handle: FileHandle;
  /** Its path without links. */
  readonly path: string;
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Follows the links of a path as long as they stay within one of the directories. Throws with a kubelet's words; of what
 * lies outside they tell nothing.
 */
export async function openLog(path: string, roots: readonly string[]): Promise<LogFile> {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  const unresolved = (why: string, cause?: unknown) =>
    new Error(`failed to try resolving symlinks in path ${quoted(path)}: ${why}`, { cause });
  if (root === undefined) throw unresolved('path escapes from parent');
  const found = await openWithin(root, relative(root, path), { make: false }).catch((cause: unknown) => {
    const isOutside = messageOf(cause).endsWith('leads outside the volume');
    throw unresolved(isOutside ? 'path escapes from parent' : systemWords(cause), cause);
  });
  try {
    return await readable(found, path);
  } finally {
    await found.close();
  }
}

async function readable(found: FileHandle, shown: string): Promise<LogFile> {
  const [seen, own] = [await found.stat(), `/proc/self/fd/${found.fd}`];
  // Who opens a pipe may wait for ever, and a device may do anything.
  if (!seen.isFile()) {
    const why = seen.isDirectory() ? 'is a directory' : 'not a regular file';
    throw new Error(`failed to read log file ${quoted(shown)}: read ${shown}: ${why}`);
  }
  try {
    const path = await readlink(own);
    return { handle: await open(own, READ), path };
  } catch (cause) {
    throw new Error(`failed to open log file ${quoted(shown)}: open ${shown}: ${systemWords(cause)}`, { cause });
  }
}

/** Whether there is another file of this name now. */
export async function isReplaced({ handle, path }: LogFile): Promise<boolean> {
  const [own, now] = [await handle.stat(), await stat(path).catch(unlessMissing)];
  return now !== undefined && (now.ino !== own.ino || now.dev !== own.dev);
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
