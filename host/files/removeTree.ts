/** Deletes a directory tree, never what is mounted below it or what links in it point to. */
import { constants, type FileHandle, open, rmdir, unlink } from 'node:fs/promises';
import { NodeFailure } from '../../base/failure.ts';
import { ProgramFailure, runProgram } from '../program.ts';
import { entriesIn, within } from './entries.ts';
import { errorCode, isMissing, isTooLong } from './fileErrors.ts';
import { mountsUnder } from './mountinfo.ts';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** What is deleted here. A program of its own does more than that faster, and at any depth. */
const MOST_ENTRIES = 500;
const MOST_DEPTH = 20;
/**
 * A tree that grows as fast as it is deleted must not be deleted for ever: whoever asked tries again. Half a million files
 * go within it on a disk that deletes no more than 600 a second.
 */
const LIMIT_MS = 15 * 60_000;
const MOST_WORDS = 500;

/**
 * Deletes a tree; a tree that is not there is deleted already. With a mount point in it nothing is deleted and it
 * fails with `FailedUnmount`, as it does with what cannot be deleted. No other file system is entered.
 */
export async function removeTree(directory: string, signal: AbortSignal): Promise<void> {
  const mounts = await mountsUnder(directory, signal);
  if (mounts.length > 0) {
    const list = mounts.map((mount) => mount.path).join(', ');
    throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${list}`);
  }
  signal.throwIfAborted();
  // Whatever hinders it, the program tells it in words with the path.
  if (await removeSmall(directory, signal).catch(() => false)) return;
  signal.throwIfAborted();
  await removeByProgram(directory, signal);
}

/** False when the tree is too large for it. */
async function removeSmall(directory: string, signal: AbortSignal): Promise<boolean> {
  const root = await open(directory, DIRECTORY).catch(unlessAbsent);
  if (root === undefined) return true;
  const { dev } = await root.stat();
  let left = MOST_ENTRIES;
  const empty = async (handle: FileHandle, depth: number): Promise<boolean> => {
    for await (const { name, isDirectory } of entriesIn(handle.fd)) {
      signal.throwIfAborted();
      left -= 1;
      if (left < 0 || depth > MOST_DEPTH) return false;
      const inner = within(handle.fd, name);
      if (!isDirectory) await unlink(inner).catch(unlessMissing);
      else if (!(await removeInner(inner, depth))) return false;
    }
    return true;
  };
  const removeInner = async (inner: Buffer, depth: number): Promise<boolean> => {
    const handle = await open(inner, DIRECTORY);
    try {
      if ((await handle.stat()).dev !== dev || !(await empty(handle, depth + 1))) return false;
    } finally {
      await handle.close();
    }
    await rmdir(inner);
    return true;
  };
  try {
    if (!(await empty(root, 1))) return false;
  } finally {
    await root.close();
  }
  await rmdir(directory);
  return true;
}

/** Ignores that nothing exists there. `ENOTDIR` is an error here, because it says that something else does. */
function unlessAbsent(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT' && !isTooLong(error)) throw error;
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** By coreutils' `rm`: it takes any name, any depth and any number of files, and none of this process's time. */
async function removeByProgram(directory: string, signal: AbortSignal): Promise<void> {
  const args = ['--recursive', '--force', '--one-file-system', '--', directory];
  await runProgram('rm', args, { signal, limitMs: LIMIT_MS }).catch((error: unknown) => {
    if (!(error instanceof ProgramFailure)) throw error;
    throw new NodeFailure('FailedUnmount', `${directory} has not been deleted yet: ${whyNot(error)}`, { cause: error });
  });
}

function whyNot({ message, isLate }: ProgramFailure): string {
  if (isLate)
    return `timed out after ${LIMIT_MS / 60_000} minutes: it is very large, or something is still writing to it`;
  const [first = ''] = message.split('\n').filter(Boolean);
  const words = first.slice(0, MOST_WORDS);
  return isOption(words) ? `${words}: GNU coreutils rm is required` : words;
}

/** That of busybox, for one, does not know how to stay on one file system. */
const isOption = (words: string): boolean => /(unrecognized|invalid|illegal|unknown) option/.test(words);
