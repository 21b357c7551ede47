/**
 * Changes the group of a volume's files to the pod's fsGroup and gives that group access to them. With the setgid bit,
 * new files get the same group.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, chown, lstat, open } from 'node:fs/promises';
import { NodeFailure } from '../base/failure.ts';
import { entryPath, readEntries } from '../host/files/entries.ts';
import { isMissing } from '../host/files/fileErrors.ts';
import { O_PATH } from '../host/files/safeOpen.ts';

/** The required ownership of a volume's files. */
export interface Ownership {
  readonly fsGroup: number;
  /** Whether the group gets only read access. */
  readonly readOnly: boolean;
  /**
   * Policy for changing the ownership. Defaults to `Always`. `OnRootMismatch` changes nothing if the root directory
   * already has the required ownership.
   */
  readonly policy?: 'Always' | 'OnRootMismatch';
  readonly signal: AbortSignal;
}

const SETGID_BIT = 0o2000;
const EXECUTE_BITS = 0o110;
const READ_BITS = 0o440;
const READ_WRITE_BITS = 0o660;
/**
 * Maximum depth of a directory tree. A deeper tree is an error, because each level requires an open file descriptor.
 */
const MAX_DEPTH = 500;

/**
 * Changes the group and the mode of a directory tree. The root is changed last, so that a root with the required
 * ownership proves that an earlier change was completed.
 */
export async function setOwnership(root: string, ownership: Ownership): Promise<void> {
  const rootStats = await lstat(root);
  if (ownership.policy === 'OnRootMismatch' && hasCorrectOwnership(rootStats, ownership)) return;
  await changeTreeOwnership(root, ownership);
}

function hasCorrectOwnership(stats: Stats, ownership: Ownership): boolean {
  const requiredMode = groupMode(stats.isDirectory(), ownership.readOnly);
  return stats.isDirectory() && stats.gid === ownership.fsGroup && (stats.mode & requiredMode) === requiredMode;
}

/** Returns the permission bits that the group requires for a directory or a file. */
export function groupMode(isDirectory: boolean, readOnly: boolean): number {
  const mode = readOnly ? READ_BITS : READ_WRITE_BITS;
  return isDirectory ? mode | EXECUTE_BITS | SETGID_BIT : mode;
}

async function changeTreeOwnership(file: string | Buffer, ownership: Ownership, depth = 0): Promise<void> {
  ownership.signal.throwIfAborted();
  if (depth > MAX_DEPTH)
    throw new NodeFailure('FailedMount', `it has directories nested deeper than ${MAX_DEPTH} levels`);
  const handle = await open(file, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) await changeEntryOwnership(handle.fd, ownership, depth);
    // Use the file descriptor, because a different file may be at the path by now.
    const handlePath = `/proc/self/fd/${handle.fd}`;
    if (stats.gid !== ownership.fsGroup) await chown(handlePath, stats.uid, ownership.fsGroup);
    // Do not change the mode of a symbolic link, because it has none of its own.
    if (!stats.isSymbolicLink())
      await chmod(handlePath, (stats.mode & 0o7777) | groupMode(stats.isDirectory(), ownership.readOnly));
  } finally {
    await handle.close();
  }
}

async function changeEntryOwnership(fd: number, ownership: Ownership, depth: number): Promise<void> {
  for await (const { name } of readEntries(fd)) {
    await changeTreeOwnership(entryPath(fd, name), ownership, depth + 1).catch((error: unknown) => {
      // Ignore a missing entry, because it may have been deleted concurrently.
      if (!isMissing(error)) throw error;
    });
  }
}
