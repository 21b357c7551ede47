/** Deletes a directory tree, never what is mounted below it. */
import { lstat, opendir, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { NodeFailure } from '../pod/failure.ts';
import { isMissing } from './fileErrors.ts';
import { mountsUnder } from './mountinfo.ts';

/**
 * Deletes a tree; a tree that is not there is deleted already. With a mount point in it nothing is deleted and it
 * fails with `FailedUnmount`. Should one appear meanwhile, the walk does not enter another file system.
 */
export async function removeTree(directory: string, signal: AbortSignal): Promise<void> {
  const mounts = await mountsUnder(directory, signal);
  if (mounts.length > 0) {
    const list = mounts.map((mount) => mount.path).join(', ');
    throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${list}`);
  }
  await ignoreMissing(async () => removeDirectory(directory, (await lstat(directory)).dev, signal));
}

async function removeDirectory(directory: string, device: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  for await (const entry of await opendir(directory)) {
    const inner = path.join(directory, entry.name);
    await ignoreMissing(() => (entry.isDirectory() ? removeInner(inner, device, signal) : unlink(inner)));
  }
  await rmdir(directory);
}

async function removeInner(directory: string, device: number, signal: AbortSignal): Promise<void> {
  if ((await lstat(directory)).dev !== device) {
    throw new NodeFailure('FailedUnmount', `not deleting ${directory}: it is on another file system`);
  }
  await removeDirectory(directory, device, signal);
}

async function ignoreMissing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
