import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import type { Layout } from './layout.ts';
import { mountsBelow } from './mounts.ts';

/**
 * Makes the directories of a private containerd. What told of running pods before the host's last boot is removed. A
 * directory that holds anything else than what one of ours leaves there, as that of the host's containerd, is refused.
 */
export async function prepareDirectories(layout: Layout): Promise<void> {
  await refuseOthers(layout);
  await mkdir(layout.directory, { recursive: true, mode: 0o711 });
  await mkdir(dirname(layout.socket), { recursive: true, mode: 0o711 });
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  if ((await readFile(layout.bootIdFile, 'utf8').catch(() => '')) === boot) return;
  // Never below a mount: that would be a container's file system.
  if (mountsBelow(layout.state, await readFile('/proc/self/mountinfo', 'utf8')).length > 0) return;
  await Promise.all([layout.state, layout.cniData].map((path) => rm(path, { recursive: true, force: true })));
  await writeFile(layout.bootIdFile, boot);
}

/** Throws where a directory holds files and none of them shows that it is that of a private containerd. */
export async function refuseOthers({ directory, bootIdFile, config }: Layout): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  const isOurs = [bootIdFile, config].some((file) => names.includes(basename(file)));
  if (names.length === 0 || isOurs) return;
  const message = `${directory} contains files that are not from a private containerd, such as ${names[0]}: use another state directory`;
  throw new NodeFailure('RuntimeUnavailable', message);
}
