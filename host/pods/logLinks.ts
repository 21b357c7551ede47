/** The symbolic links by which log collectors find the containers' logs (C23). */
import { mkdir, readdir, readlink, rename, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, isMissing } from '../files/fileErrors.ts';
import { type Layout, type PodIdentity, READABLE } from './layout.ts';

interface LogLink {
  readonly pod: PodIdentity;
  readonly container: string;
  /** The container's id at the runtime. */
  readonly id: string;
}

/** Points a container's link at its log file, also when it pointed elsewhere. */
export async function writeLogSymlink(layout: Layout, link: LogLink, logFile: string): Promise<void> {
  const target = layout.logLink(link.pod, link.container, link.id);
  try {
    await symlink(logFile, target);
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== 'EEXIST') throw error;
    await replaceLink(layout, target, { logFile, id: link.id });
  }
}

/** Puts a link in the place of what is there, if anything: whoever looks meanwhile finds one of both. */
async function replaceLink(layout: Layout, target: string, { logFile, id }: { logFile: string; id: string }) {
  const fresh = path.join(layout.logLinksDir, `.${id}`);
  await mkdir(layout.logLinksDir, { recursive: true, mode: READABLE });
  await unlinkIfThere(fresh);
  await symlink(logFile, fresh);
  await rename(fresh, target);
}

/** Removes the link of one container. Idempotent. */
export async function removeLogSymlink(layout: Layout, link: LogLink): Promise<void> {
  await unlinkIfThere(layout.logLink(link.pod, link.container, link.id));
}

/** Removes all links into the pod's log directory; those of another pod of its name stay. Idempotent. */
export async function removeLogSymlinks(layout: Layout, pod: PodIdentity): Promise<void> {
  const prefix = layout.logLinkPrefix(pod);
  const inside = `${layout.podLogDir(pod)}/`;
  const names = (await linkNames(layout)).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const link = path.join(layout.logLinksDir, name);
      if ((await targetOf(link))?.startsWith(inside)) await unlinkIfThere(link);
    }),
  );
}

async function linkNames(layout: Layout): Promise<readonly string[]> {
  try {
    return await readdir(layout.logLinksDir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Where a link points to, undefined for what is none. */
async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch {
    return undefined;
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
