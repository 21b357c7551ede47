/** Gives a volume to its pod's fsGroup: the group owns everything in it, may use it, and owns what comes later. */
import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, opendir } from 'node:fs/promises';
import path from 'node:path';

interface Ownership {
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

/** Changes the group and rights of a tree, its root last: where that is right, a change was not broken off. */
export async function setOwnership(root: string, ownership: Ownership): Promise<void> {
  const found = await lstat(root);
  if (ownership.policy === 'OnRootMismatch' && isRight(found, ownership)) return;
  await change(root, found, ownership);
}

function isRight(found: Stats, ownership: Ownership): boolean {
  const rights = rightsOf(found, ownership);
  return found.isDirectory() && found.gid === ownership.fsGroup && (found.mode & rights) === rights;
}

function rightsOf(found: Stats, { readOnly }: Ownership): number {
  const rights = readOnly ? READABLE : WRITABLE;
  return found.isDirectory() ? rights | EXECUTABLE | SETGID : rights;
}

async function change(file: string, found: Stats, ownership: Ownership): Promise<void> {
  ownership.signal.throwIfAborted();
  if (found.isDirectory()) {
    for await (const { name } of await opendir(file)) {
      const inner = path.join(file, name);
      await change(inner, await lstat(inner), ownership);
    }
  }
  if (found.gid !== ownership.fsGroup) await lchown(file, found.uid, ownership.fsGroup);
  // A link has no rights of its own; changing them would change those of what it points to.
  if (!found.isSymbolicLink()) await chmod(file, (found.mode & 0o7777) | rightsOf(found, ownership));
}
