/**
 * Mounts subPaths of volumes (C26). A subPath is opened first. The open file is then bind-mounted at a path that
 * belongs to the pod.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, mkdir, open, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../../host/files/fileErrors.ts';
import { findMountAt } from '../../host/files/mountinfo.ts';
import { openWithin } from '../../host/files/safeOpen.ts';
import { PRIVATE_MODE } from '../../host/pods/layout.ts';
import { bindHandle, unmount } from './mount.ts';

interface SubPathBind {
  /** Host path of the volume. */
  readonly hostPath: string;
  /** Relative path without `..`. */
  readonly subPath: string;
  readonly target: string;
  readonly signal: AbortSignal;
}

/**
 * Bind-mounts a subPath at `target`, which the runtime then mounts in the container. Creates missing directories with
 * the mode of the volume. Idempotent, because an existing mount of the same file or directory is preserved.
 */
export async function bindSubPath({ hostPath, subPath, target, signal }: SubPathBind): Promise<void> {
  const handle = await openWithin(hostPath, subPath, { shouldCreate: true });
  try {
    await mountHandle(handle, target, signal);
  } finally {
    await handle.close();
  }
}

async function mountHandle(handle: FileHandle, target: string, signal: AbortSignal): Promise<void> {
  const sourceStats = await handle.stat({ bigint: true });
  if (await isMountedAt(target, sourceStats)) return;
  await clearTarget(target, signal);
  await createMountPoint(target, sourceStats.isDirectory());
  await bindHandle(handle.fd, target, signal);
  if (!(await isMountedAt(target, sourceStats))) throw new Error(`something else is already mounted at ${target}`);
}

/** Whether a path refers to the given file or directory. */
async function isMountedAt(target: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const stats = await stat(target, { bigint: true }).catch(unlessMissing);
  return stats?.dev === dev && stats.ino === ino;
}

async function clearTarget(target: string, signal: AbortSignal): Promise<void> {
  while ((await findMountAt(target, signal)) !== undefined) await unmount(target, signal);
  // Remove a directory only if it is empty, so that nothing is deleted if something has been mounted there in the
  // meantime.
  await ((await isDirectory(target)) ? rmdir(target) : unlink(target)).catch(unlessMissing);
}

async function isDirectory(file: string): Promise<boolean> {
  const stats = await stat(file).catch(unlessMissing);
  return stats?.isDirectory() ?? false;
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Creates the mount point. A directory is mounted on a directory and anything else on a file. */
async function createMountPoint(target: string, forDirectory: boolean): Promise<void> {
  await mkdir(forDirectory ? target : path.dirname(target), { recursive: true, mode: PRIVATE_MODE });
  if (!forDirectory) await (await open(target, 'a', PRIVATE_MODE)).close();
}
