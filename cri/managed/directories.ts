import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Layout } from './layout.ts';
import { mountsBelow } from './mounts.ts';

/** Makes the directories of a private containerd. What told of running pods before the host's last boot is removed. */
export async function prepareDirectories(layout: Layout): Promise<void> {
  await mkdir(layout.directory, { recursive: true, mode: 0o711 });
  await mkdir(dirname(layout.socket), { recursive: true, mode: 0o711 });
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  if ((await readFile(layout.bootIdFile, 'utf8').catch(() => '')) === boot) return;
  // Never below a mount: that would be a container's file system.
  if (mountsBelow(layout.state, await readFile('/proc/self/mountinfo', 'utf8')).length > 0) return;
  await Promise.all([layout.state, layout.cniData].map((path) => rm(path, { recursive: true, force: true })));
  await writeFile(layout.bootIdFile, boot);
}
