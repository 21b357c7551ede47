/** The symbolic links by which log collectors find the containers' logs (C23). */
import path from 'node:path';
import { errorCode, isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { type Layout, type PodIdentity, READABLE } from './layout.ts';

/** The names of links that are not in their place yet begin so: no pod's does. */
const UNFINISHED = '.';

export interface LogLink {
  readonly pod: PodIdentity;
  readonly container: string;
  /** The container's id at the runtime. */
  readonly id: string;
}

/** Points a container's link at its log file, also when it pointed elsewhere. */
export async function writeLogSymlink(layout: Layout, link: LogLink, logFile: string): Promise<void> {
  const target = layout.logLink(link.pod, link.container, link.id);
  try {
    await layout.files.symlink(logFile, target);
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== 'EEXIST') throw error;
    await replaceLink(layout, target, { logFile, id: link.id });
  }
}

/** Puts a link in the place of what is there, if anything: whoever looks meanwhile finds one of both. */
async function replaceLink(layout: Layout, target: string, { logFile, id }: { logFile: string; id: string }) {
  const { files, logLinksDir } = layout;
  const fresh = path.join(logLinksDir, UNFINISHED + id);
  await files.mkdir(logLinksDir, { recursive: true, mode: READABLE });
  await unlinkIfThere(files, fresh);
  await files.symlink(logFile, fresh);
  await files.rename(fresh, target);
}

/** Removes the link of one container. Idempotent. */
export async function removeLogSymlink(layout: Layout, link: LogLink): Promise<void> {
  await unlinkIfThere(layout.files, layout.logLink(link.pod, link.container, link.id));
}

/** Removes all links into the pod's log directory, also unfinished ones; those of another pod of its name stay. Idempotent. */
export async function removeLogSymlinks(layout: Layout, pod: PodIdentity): Promise<void> {
  const prefix = layout.logLinkPrefix(pod);
  const inside = `${layout.podLogDir(pod)}/`;
  const names = (await linkNames(layout)).filter((name) => name.startsWith(prefix) || name.startsWith(UNFINISHED));
  await Promise.all(
    names.map(async (name) => {
      const link = path.join(layout.logLinksDir, name);
      if ((await targetOf(layout.files, link))?.startsWith(inside)) await unlinkIfThere(layout.files, link);
    }),
  );
}

async function linkNames({ files, logLinksDir }: Layout): Promise<readonly string[]> {
  try {
    return await files.readdir(logLinksDir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Where a link points to, undefined for what is none. */
async function targetOf(files: FileSystem, link: string): Promise<string | undefined> {
  try {
    return await files.readlink(link);
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'EINVAL') return undefined;
    throw error;
  }
}

async function unlinkIfThere(files: FileSystem, file: string): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
