import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseMountInfo } from './mountinfo.ts';
import type { MountPoint } from './mountPoint.ts';

/** Resolves the symbolic links in the existing part of a path. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(resolveLinks(dirname(path)), basename(path));
  }
}

/** Types of file systems that depend on a server or a user process and therefore may hang. */
const REMOTE_TYPES_PATTERN = /^(nfs\d?|cifs|smb\w*|ceph|9p|afs|lustre|glusterfs|gfs2|ocfs2|autofs|fuse(\..*)?)$/;
/** Maximum number of symbolic links to follow, as in the kernel. */
const MAX_LINKS = 40;

/**
 * Resolves the symbolic links in the existing part of a path, but only on local file systems, because accessing a
 * remote one may hang.
 */
export function resolveLocalLinks(path: string, mounts: readonly MountPoint[] = readMounts()): string {
  const isRemote = (path: string) =>
    REMOTE_TYPES_PATTERN.test(mounts.findLast((mount) => mount.path === path)?.type ?? '');
  const remainingNames = splitPath(resolve(path));
  let resolvedPath = '/';
  for (let links = 0; remainingNames.length > 0 && links <= MAX_LINKS; ) {
    const nextPath = join(resolvedPath, remainingNames.shift() ?? '');
    if (isRemote(nextPath)) return join(nextPath, ...remainingNames);
    const linkTarget = readLinkTarget(nextPath);
    if (linkTarget === undefined) {
      resolvedPath = nextPath;
      continue;
    }
    links += 1;
    if (isAbsolute(linkTarget)) resolvedPath = '/';
    remainingNames.unshift(...splitPath(linkTarget));
  }
  return join(resolvedPath, ...remainingNames);
}

/**
 * Whether two paths resolve to the same file. Links on remote file systems are not resolved, because accessing these
 * may hang.
 */
export function isSamePath(a: string, b: string): boolean {
  if (a === b) return true;
  const mounts = readMounts();
  return resolveLocalLinks(a, mounts) === resolveLocalLinks(b, mounts);
}

const splitPath = (path: string): string[] => path.split('/').filter((name) => name !== '');

const readMounts = (): readonly MountPoint[] => parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));

function readLinkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The path is not a link or does not exist.
    return undefined;
  }
}
