/** Opens the log file of a container if the file is in an allowed directory. */
import { type FileHandle, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { quotedText } from '../../../base/text/quotedText.ts';
import { isMissing } from '../../../host/files/fileErrors.ts';
import { openInside, systemErrorMessage } from '../node/openInside.ts';

export interface LogFile {
  readonly handle: FileHandle;
  /** The path without symlinks. */
  readonly path: string;
}

/**
 * Opens a log. Follows symlinks only within the root directory that contains the path. Throws errors with the kubelet's
 * messages.
 */
export async function openLog(path: string, roots: readonly string[]): Promise<LogFile> {
  const quotedPath = quotedText(path);
  const containingRoot = roots.find((each) => relative(each, path).split('/')[0] !== '..');
  const openedFile = await (containingRoot === undefined
    ? rejectOutside()
    : openInside(containingRoot, relative(containingRoot, path))
  ).catch((cause: unknown) => {
    throw new Error(`failed to try resolving symlinks in path ${quotedPath}: ${systemErrorMessage(cause)}`, {
      cause,
    });
  });
  if (openedFile.kind === 'file') return openedFile;
  await openedFile.handle.close();
  const why = openedFile.kind === 'directory' ? 'is a directory' : 'not a regular file';
  throw new Error(`failed to read log file ${quotedPath}: read ${path}: ${why}`);
}

const rejectOutside = (): Promise<never> => Promise.reject(new Error('path escapes from parent'));

/** Whether the path now refers to a different file. */
export async function isReplaced({ handle, path }: LogFile): Promise<boolean> {
  const [own, now] = [await handle.stat(), await stat(path).catch(ignoreMissing)];
  return now !== undefined && (now.ino !== own.ino || now.dev !== own.dev);
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
