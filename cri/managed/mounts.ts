import { readFile } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { run } from './program.ts';

/** Unmounts everything below the directory of a stopped containerd. */
export async function unmountAll({ directory }: Layout, signal: AbortSignal): Promise<void> {
  const mountPoints = parseMountPointsBelow(directory, await readFile('/proc/self/mountinfo', 'utf8'));
  // Fall back to a lazy unmount, because only processes outside this containerd can still be using a busy mount.
  for (const point of mountPoints) {
    await run('umount', [point], { signal }).catch(() => run('umount', ['--lazy', point], { signal }));
  }
}

/** Returns the mount points below a directory according to `/proc/self/mountinfo`, most recent mount first. */
export function parseMountPointsBelow(directory: string, mountinfo: string): string[] {
  const mountPoints = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  return mountPoints
    .map(unescapePath)
    .filter((point) => point.startsWith(`${directory}/`))
    .reverse();
}

/** Decodes octal escapes. The kernel escapes spaces and backslashes in mount points. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
