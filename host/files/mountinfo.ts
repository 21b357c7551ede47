/** What is mounted where, as this process sees it. */
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing } from './fileErrors.ts';
import type { MountPoint } from './mountPoint.ts';

/** The read that has begun last, whatever becomes of it; and the one that all who ask meanwhile will share. */
let running: Promise<unknown> = Promise.resolve();
let next: Promise<readonly MountPoint[]> | undefined;

/**
 * Reads every mount point, in the order they were mounted: as they are when it is called, or later. The kernel's list
 * has several lines for each pod, so many pods that come or go at once share their reads of it.
 */
export async function mountPoints(signal: AbortSignal): Promise<readonly MountPoint[]> {
  signal.throwIfAborted();
  next ??= running.then(() => {
    next = undefined;
    const read = readFile('/proc/self/mountinfo', 'utf8').then(parseMountInfo);
    running = read.catch(() => {});
    return read;
  });
  return next;
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

/** Four fields, the mount point, its options and more, a dash, the type. */
const LINE = /^(?:\S+ ){4}(\S+) .*? - (\S+)/;

function parseLine(line: string): MountPoint | undefined {
  const [, path, type] = LINE.exec(line) ?? [];
  return path === undefined || type === undefined ? undefined : { path: unescapeOctal(path), type };
}

/** What would break a line (space, tab, newline, backslash, #) is written as a backslash and three octal digits. */
export function unescapeOctal(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** As the kernel lists it. What is mounted at the path itself is not looked at: it may not answer. */
async function resolved(directory: string): Promise<string | undefined> {
  try {
    return join(await realpath(dirname(directory)), basename(directory));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
