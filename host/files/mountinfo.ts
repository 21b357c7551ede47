/** Reads the mounts that are visible to this process. */
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing } from './fileErrors.ts';
import type { MountPoint } from './mountPoint.ts';

/** The latest read that has started. */
let currentRead: Promise<unknown> = Promise.resolve();
/** The read that starts after `currentRead`, shared by all callers until it starts. */
let pendingRead: Promise<readonly MountPoint[]> | undefined;

/**
 * Returns all mount points in the order of their creation. The read starts after the call, so the list includes every
 * change before the call. Concurrent callers share a read, because the list is long, with several lines per pod.
 */
export async function readMountPoints(signal: AbortSignal): Promise<readonly MountPoint[]> {
  signal.throwIfAborted();
  pendingRead ??= currentRead.then(() => {
    pendingRead = undefined;
    const newRead = readFile('/proc/self/mountinfo', 'utf8').then(parseMountInfo);
    currentRead = newRead.catch(() => {});
    return newRead;
  });
  return pendingRead;
}

/** Lists the mount points at a directory and below it, most recent mount first, which is the order for unmounting. */
export async function listMountsUnder(directory: string, signal: AbortSignal): Promise<readonly MountPoint[]> {
  const realDirectory = await resolveParent(directory);
  if (realDirectory === undefined) return [];
  const prefix = realDirectory === '/' ? '/' : `${realDirectory}/`;
  const mounts = await readMountPoints(signal);
  return mounts.filter((mount) => mount.path === realDirectory || mount.path.startsWith(prefix)).reverse();
}

/** Returns the topmost mount at exactly this path, or undefined if there is none. */
export async function findMountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined> {
  const realDirectory = await resolveParent(directory);
  if (realDirectory === undefined) return undefined;
  return (await readMountPoints(signal)).findLast((mount) => mount.path === realDirectory);
}

/** Parses a `mountinfo` file. Invalid lines are ignored. */
export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const mount = parseLine(line);
    return mount === undefined ? [] : [mount];
  });
}

/** Pattern of a line of mountinfo. Captures the mount point and the file system type. */
const MOUNTINFO_LINE_PATTERN = /^(?:\S+ ){4}(\S+) .*? - (\S+)/;

function parseLine(line: string): MountPoint | undefined {
  const [, path, type] = MOUNTINFO_LINE_PATTERN.exec(line) ?? [];
  return path === undefined || type === undefined ? undefined : { path: unescapeOctal(path), type };
}

/** Decodes octal escapes. The kernel escapes space, tab, newline, backslash and #. */
export function unescapeOctal(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/**
 * Resolves the links in the parent directories of a path. Does not access the path itself, because a file system
 * mounted there may hang.
 */
async function resolveParent(directory: string): Promise<string | undefined> {
  try {
    return join(await realpath(dirname(directory)), basename(directory));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
