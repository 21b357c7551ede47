import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseMountInfo } from './mountinfo.ts';
import type { MountPoint } from './mountPoint.ts';

/** A path without symbolic links, as far as it exists. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(withoutLinks(dirname(path)), basename(path));
  }
}

/** File systems that may not answer, for somebody else does. */
const REMOTE = /^(nfs\d?|cifs|smb\w*|ceph|9p|afs|lustre|glusterfs|gfs2|ocfs2|autofs|fuse(\..*)?)$/;
/** As many as the kernel follows. */
const MOST_LINKS = 40;

/**
 * A path without symbolic links, as far as it exists and lies on a file system of this machine: what is mounted from
 * elsewhere is not looked at, for a look may hang in the kernel.
 */
export function withoutLocalLinks(path: string, mounts: readonly MountPoint[] = mountedNow()): string {
  const isRemote = (place: string) => REMOTE.test(mounts.findLast((mount) => mount.path === place)?.type ?? '');
  const rest = partsOf(resolve(path));
  let real = '/';
  for (let links = 0; rest.length > 0 && links <= MOST_LINKS; ) {
    const next = join(real, rest.shift() ?? '');
    if (isRemote(next)) return join(next, ...rest);
    const link = linkAt(next);
    if (link === undefined) {
      real = next;
      continue;
    }
    links += 1;
    if (isAbsolute(link)) real = '/';
    rest.unshift(...partsOf(link));
  }
  return join(real, ...rest);
}

/** Whether two paths lead to one place, through whatever links on file systems of this machine: others may not answer. */
export function isSamePath(one: string, other: string): boolean {
  if (one === other) return true;
  const mounts = mountedNow();
  return withoutLocalLinks(one, mounts) === withoutLocalLinks(other, mounts);
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

/** What is mounted now, as this process sees it. */
const mountedNow = (): readonly MountPoint[] => parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // It is no link, or is not there.
    return undefined;
  }
}
