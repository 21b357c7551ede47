/** Gives a volume to its pod's fsGroup: the group owns everything in it, may use it, and owns what comes later. */
import { constants, type Stats } from 'node:fs';
import { chmod, chown, lstat, open } from 'node:fs/promises';
import { NodeFailure } from '../base/failure.ts';
import { entriesIn, within } from '../host/files/entries.ts';
import { isMissing } from '../host/files/fileErrors.ts';
import { O_PATH } from '../host/files/safeOpen.ts';

/** What a volume's tree is to be. */
export interface Ownership {
  readonly fsGroup: number;
  /** The group may only read. */
  readonly readOnly: boolean;
  /** `OnRootMismatch`: nothing is done where the volume's own directory is right already. */
  readonly policy?: 'Always' | 'OnRootMismatch';
  readonly signal: AbortSignal;
}

const SETGID = 0o2000;
const EXECUTABLE = 0o110;
const READABLE = 0o440;
const WRITABLE = 0o660;
/** Each takes a handle while it is at work in it. */
const MOST_DEPTH = 500;

/** Changes the group and rights of a tree, its root last: where that is right, a change was not broken off. */
export async function setOwnership(root: string, ownership: Ownership): Promise<void> {
  const found = await lstat(root);
  if (ownership.policy === 'OnRootMismatch' && isRight(found, ownership)) return;
  await change(root, ownership);
}

function isRight(found: Stats, ownership: Ownership): boolean {
  const rights = rightsOf(found.isDirectory(), ownership.readOnly);
  return found.isDirectory() && found.gid === ownership.fsGroup && (found.mode & rights) === rights;
}

/** What the group may do with a directory or with what is none. */
export function rightsOf(isDirectory: boolean, readOnly: boolean): number {
  const rights = readOnly ? READABLE : WRITABLE;
  return isDirectory ? rights | EXECUTABLE | SETGID : rights;
}

async function change(file: string | Buffer, ownership: Ownership, depth = 0): Promise<void> {
  ownership.signal.throwIfAborted();
  if (depth > MOST_DEPTH)
    throw new NodeFailure('FailedMount', `it has directories nested deeper than ${MOST_DEPTH} levels`);
  const handle = await open(file, O_PATH | constants.O_NOFOLLOW);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) await changeIn(handle.fd, ownership, depth);
    // By its handle: whatever has this name meanwhile, this is what was looked at.
    const itself = `/proc/self/fd/${handle.fd}`;
    if (found.gid !== ownership.fsGroup) await chown(itself, found.uid, ownership.fsGroup);
    // A link has no rights of its own.
    if (!found.isSymbolicLink())
      await chmod(itself, (found.mode & 0o7777) | rightsOf(found.isDirectory(), ownership.readOnly));
  } finally {
    await handle.close();
  }
}

async function changeIn(fd: number, ownership: Ownership, depth: number): Promise<void> {
  for await (const { name } of entriesIn(fd)) {
    await change(within(fd, name), ownership, depth + 1).catch((error: unknown) => {
      // Whoever made it may have taken it away.
      if (!isMissing(error)) throw error;
    });
  }
}
