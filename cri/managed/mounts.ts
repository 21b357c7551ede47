import { readFile } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { run } from './program.ts';

/** Unmounts all that is mounted below the directory of a containerd that has ended. */
export async function unmountAll({ directory }: Layout, signal: AbortSignal): Promise<void> {
  const points = mountsBelow(directory, await readFile('/proc/self/mountinfo', 'utf8'));
  // One that is busy is detached: what uses it is none of ours.
  for (const point of points) {
    await run('umount', [point], { signal }).catch(() => run('umount', ['--lazy', point], { signal }));
  }
}

/** The mount points below a directory out of `/proc/self/mountinfo`, the last mounted first. */
export function mountsBelow(directory: string, mountinfo: string): string[] {
  const points = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  return points
    .map(unescapePath)
    .filter((point) => point.startsWith(`${directory}/`))
    .reverse();
}

/** The kernel writes blanks and backslashes of a path as octal numbers. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
