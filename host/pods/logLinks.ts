/** Creates and removes the symbolic links through which log collectors read container logs (C23). */
import path from 'node:path';
import { errorCode, isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { type Layout, type PodIdentity, READABLE_MODE } from './layout.ts';

/** Prefix of the names of temporary links. No other link has a name with this prefix. */
const TEMPORARY_PREFIX = '.';

export interface LogLink {
  readonly pod: PodIdentity;
  readonly container: string;
  /** ID of the container in the runtime. */
  readonly id: string;
}

/** Creates or updates the link to a container's log file. */
export async function writeLogSymlink(layout: Layout, link: LogLink, logFile: string): Promise<void> {
  const linkPath = layout.logLink(link.pod, link.container, link.id);
  try {
    await layout.files.symlink(logFile, linkPath);
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== 'EEXIST') throw error;
    await replaceLink(layout, linkPath, { logFile, id: link.id });
  }
}

/** Creates a link, and atomically replaces an existing one. */
async function replaceLink(layout: Layout, linkPath: string, { logFile, id }: { logFile: string; id: string }) {
  const { files, logLinksDir } = layout;
  const temporaryLink = path.join(logLinksDir, TEMPORARY_PREFIX + id);
  await files.mkdir(logLinksDir, { recursive: true, mode: READABLE_MODE });
  await unlinkIfExists(files, temporaryLink);
  await files.symlink(logFile, temporaryLink);
  await files.rename(temporaryLink, linkPath);
}

/** Removes the link of a container. Idempotent. */
export async function removeLogSymlink(layout: Layout, link: LogLink): Promise<void> {
  await unlinkIfExists(layout.files, layout.logLink(link.pod, link.container, link.id));
}

/**
 * Removes all links into the pod's log directory, including temporary ones. Links of another pod with the same name are
 * preserved. Idempotent.
 */
export async function removeLogSymlinks(layout: Layout, pod: PodIdentity): Promise<void> {
  const prefix = layout.logLinkPrefix(pod);
  const logDirectoryPrefix = `${layout.podLogDir(pod)}/`;
  const names = (await listLinkNames(layout)).filter(
    (name) => name.startsWith(prefix) || name.startsWith(TEMPORARY_PREFIX),
  );
  await Promise.all(
    names.map(async (name) => {
      const link = path.join(layout.logLinksDir, name);
      if ((await readLinkTarget(layout.files, link))?.startsWith(logDirectoryPrefix))
        await unlinkIfExists(layout.files, link);
    }),
  );
}

async function listLinkNames({ files, logLinksDir }: Layout): Promise<readonly string[]> {
  try {
    return await files.readdir(logLinksDir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Returns the target of a link, or undefined if the path is not a link. */
async function readLinkTarget(files: FileSystem, link: string): Promise<string | undefined> {
  try {
    return await files.readlink(link);
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'EINVAL') return undefined;
    throw error;
  }
}

async function unlinkIfExists(files: FileSystem, file: string): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
