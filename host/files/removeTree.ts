/** Deletes directory trees without entering mounts or following links. */
import { constants, type FileHandle, open, rmdir, unlink } from 'node:fs/promises';
import { NodeFailure } from '../../base/failure.ts';
import { ProgramFailure, runProgram } from '../program.ts';
import { entryPath, readEntries } from './entries.ts';
import { errorCode, isMissing, isTooLong } from './fileErrors.ts';
import { listMountsUnder } from './mountinfo.ts';

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Maximum number of entries of a tree that is deleted in this process. For larger trees, `rm` is faster. */
const MAX_ENTRIES = 500;
/**
 * Maximum depth of a tree that is deleted in this process. Deeper trees are deleted with `rm`, which supports any
 * depth.
 */
const MAX_DEPTH = 20;
/**
 * Timeout in milliseconds. Without it, the deletion of a tree that grows as fast as it is deleted would never end. The
 * caller retries. The time is enough for half a million files on a disk that deletes 600 per second.
 */
const REMOVE_TIMEOUT_MS = 15 * 60_000;
const MAX_MESSAGE_LENGTH = 500;

/**
 * Deletes a tree. Succeeds if it does not exist. Fails with `FailedUnmount` if something cannot be deleted or if the
 * tree contains a mount point. In the latter case, nothing is deleted. Does not enter other file systems.
 */
export async function removeTree(directory: string, signal: AbortSignal): Promise<void> {
  const mounts = await listMountsUnder(directory, signal);
  if (mounts.length > 0) {
    const paths = mounts.map((mount) => mount.path).join(', ');
    throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${paths}`);
  }
  signal.throwIfAborted();
  // If this fails, `rm` reports the error with the path.
  if (await removeSmallTree(directory, signal).catch(() => false)) return;
  signal.throwIfAborted();
  await removeWithRm(directory, signal);
}

/** Deletes a small tree in this process. Returns false if the tree is too large. */
async function removeSmallTree(directory: string, signal: AbortSignal): Promise<boolean> {
  const root = await open(directory, DIRECTORY_FLAGS).catch(ignoreAbsentDirectory);
  if (root === undefined) return true;
  const { dev } = await root.stat();
  let remainingEntries = MAX_ENTRIES;
  const emptyDirectory = async (handle: FileHandle, depth: number): Promise<boolean> => {
    for await (const { name, isDirectory } of readEntries(handle.fd)) {
      signal.throwIfAborted();
      remainingEntries -= 1;
      if (remainingEntries < 0 || depth > MAX_DEPTH) return false;
      const innerPath = entryPath(handle.fd, name);
      if (!isDirectory) await unlink(innerPath).catch(ignoreMissing);
      else if (!(await removeInnerDirectory(innerPath, depth))) return false;
    }
    return true;
  };
  const removeInnerDirectory = async (innerPath: Buffer, depth: number): Promise<boolean> => {
    const handle = await open(innerPath, DIRECTORY_FLAGS);
    try {
      if ((await handle.stat()).dev !== dev || !(await emptyDirectory(handle, depth + 1))) return false;
    } finally {
      await handle.close();
    }
    await rmdir(innerPath);
    return true;
  };
  try {
    if (!(await emptyDirectory(root, 1))) return false;
  } finally {
    await root.close();
  }
  await rmdir(directory);
  return true;
}

/**
 * Ignores errors about a missing path. `ENOTDIR` is rethrown, because it means that something exists that is not a
 * directory.
 */
function ignoreAbsentDirectory(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT' && !isTooLong(error)) throw error;
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/**
 * Deletes a tree with coreutils' `rm`, which supports any name, depth and number of files and does not block this
 * process.
 */
async function removeWithRm(directory: string, signal: AbortSignal): Promise<void> {
  const args = ['--recursive', '--force', '--one-file-system', '--', directory];
  await runProgram('rm', args, { signal, timeoutMs: REMOVE_TIMEOUT_MS }).catch((error: unknown) => {
    if (!(error instanceof ProgramFailure)) throw error;
    throw new NodeFailure('FailedUnmount', `${directory} has not been deleted yet: ${failureReason(error)}`, {
      cause: error,
    });
  });
}

function failureReason({ message, hasTimedOut }: ProgramFailure): string {
  if (hasTimedOut)
    return `timed out after ${REMOVE_TIMEOUT_MS / 60_000} minutes: it is very large, or something is still writing to it`;
  const [firstLine = ''] = message.split('\n').filter(Boolean);
  const shortenedLine = firstLine.slice(0, MAX_MESSAGE_LENGTH);
  return isUnsupportedOption(shortenedLine) ? `${shortenedLine}: GNU coreutils rm is required` : shortenedLine;
}

/** Whether an error message of `rm` reports an unsupported option, e.g. because busybox lacks --one-file-system. */
const isUnsupportedOption = (message: string): boolean => /(unrecognized|invalid|illegal|unknown) option/.test(message);
