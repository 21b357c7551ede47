/** What is mounted where, as this process sees it. */
import { readFile, realpath } from 'node:fs/promises';
import { isMissing } from './fileErrors.ts';

interface MountPoint {
  /** An absolute path without symbolic links. */
  readonly path: string;
  /** The file system's type: `tmpfs`, `cgroup2`, … */
  readonly type: string;
}

/** Reads every mount point, in the order they were mounted. */
export async function mountPoints(signal: AbortSignal): Promise<readonly MountPoint[]> {
  return parseMountInfo(await readFile('/proc/self/mountinfo', { encoding: 'utf8', signal }));
}

/** Reads the mount points at `directory` and below it, the last mounted first: the order in which to unmount. */
export async function mountsUnder(directory: string, signal: AbortSignal): Promise<readonly MountPoint[]> {
  const real = await resolved(directory);
  if (real === undefined) return [];
  const inside = real === '/' ? '/' : `${real}/`;
  const mounts = await mountPoints(signal);
  return mounts.filter((mount) => mount.path === real || mount.path.startsWith(inside)).reverse();
}

/** Reads what is mounted at a path itself: of several mounts the visible one, undefined when there is none. */
export async function mountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined> {
  const real = await resolved(directory);
  if (real === undefined) return undefined;
  return (await mountPoints(signal)).findLast((mount) => mount.path === real);
}

/** Parses the text of a `mountinfo` file; lines that are none are left out. */
export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const mount = parseLine(line);
    return mount === undefined ? [] : [mount];
  });
}

function parseLine(line: string): MountPoint | undefined {
  const [head, tail] = line.split(' - ', 2);
  if (head === undefined || tail === undefined) return undefined;
  const path = head.split(' ')[4];
  const type = tail.split(' ')[0];
  return path === undefined || type === undefined ? undefined : { path: unescapeOctal(path), type };
}

/** What would break a line (space, tab, newline, backslash, #) is written as a backslash and three octal digits. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

async function resolved(directory: string): Promise<string | undefined> {
  try {
    return await realpath(directory);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
