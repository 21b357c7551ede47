/** What containers mount of a volume that is not the whole of it (C26): mounted by its handle, at a place of the pod's own. */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, mkdir, open, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import { mountAt } from '../host/files/mountinfo.ts';
import { openWithin } from '../host/files/safeOpen.ts';
import { PRIVATE } from '../host/pods/layout.ts';
import { bindHandle, unmount } from './mount.ts';

interface SubPathBind {
  /** Where the volume lies on the host. */
  readonly hostPath: string;
  /** Relative, and never upwards. */
  readonly subPath: string;
  readonly target: string;
  readonly signal: AbortSignal;
}

/**
 * Mounts a part of a volume at a path of the pod's own, which the runtime then mounts. Missing directories are created with
 * the mode of the volume. Idempotent, because a mount of the same directory or file is left alone.
 */
export async function bindSubPath({ hostPath, subPath, target, signal }: SubPathBind): Promise<void> {
  const handle = await openWithin(hostPath, subPath, { make: true });
  try {
    await mountAtPlace(handle, target, signal);
  } finally {
    await handle.close();
  }
}

async function mountAtPlace(handle: FileHandle, target: string, signal: AbortSignal): Promise<void> {
  const found = await handle.stat({ bigint: true });
  if (await isAt(target, found)) return;
  await clear(target, signal);
  await makePlace(target, found.isDirectory());
  await bindHandle(handle.fd, target, signal);
  if (!(await isAt(target, found))) throw new Error(`something else is already mounted at ${target}`);
}

/** Whether a path shows the very file or directory. */
async function isAt(target: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const shown = await stat(target, { bigint: true }).catch(unlessMissing);
  return shown?.dev === dev && shown.ino === ino;
}

async function clear(target: string, signal: AbortSignal): Promise<void> {
  while ((await mountAt(target, signal)) !== undefined) await unmount(target, signal);
  // Only the empty place itself: should anything be mounted on it again, nothing of that may go.
  await ((await isDirectory(target)) ? rmdir(target) : unlink(target)).catch(unlessMissing);
}

async function isDirectory(file: string): Promise<boolean> {
  const found = await stat(file).catch(unlessMissing);
  return found?.isDirectory() ?? false;
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** A directory is mounted on a directory, anything else on a file. */
async function makePlace(target: string, forDirectory: boolean): Promise<void> {
  await mkdir(forDirectory ? target : path.dirname(target), { recursive: true, mode: PRIVATE });
  if (!forDirectory) await (await open(target, 'a', PRIVATE)).close();
}
