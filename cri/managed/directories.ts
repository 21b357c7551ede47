import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import type { Layout } from './layout.ts';
import { parseMountPointsBelow } from './mounts.ts';

/**
 * Creates the directories of a private containerd and removes state from before the last boot of the host. Throws if
 * the directory contains other files, such as those of the host's containerd.
 */
export async function prepareDirectories(layout: Layout): Promise<void> {
  await refuseForeignDirectory(layout);
  await mkdir(layout.directory, { recursive: true, mode: 0o711 });
  await mkdir(dirname(layout.socket), { recursive: true, mode: 0o711 });
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  if ((await readFile(layout.bootIdFile, 'utf8').catch(() => '')) === bootId) return;
  // Do not remove the directory while anything is mounted below it, because this would delete the files of containers.
  if (parseMountPointsBelow(layout.state, await readFile('/proc/self/mountinfo', 'utf8')).length > 0) return;
  await Promise.all([layout.state, layout.cniData].map((path) => rm(path, { recursive: true, force: true })));
  await writeFile(layout.bootIdFile, bootId);
}

/** Throws if a directory is not empty and does not belong to a private containerd. */
export async function refuseForeignDirectory({ directory, bootIdFile, config }: Layout): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  const isOurs = [bootIdFile, config].some((file) => names.includes(basename(file)));
  if (names.length === 0 || isOurs) return;
  const message = `${directory} contains files that are not from a private containerd, such as ${names[0]}: use another state directory`;
  throw new NodeFailure('RuntimeUnavailable', message);
}
