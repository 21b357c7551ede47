/** Pods of which only their directories are left: nobody knows them any more after a restart of the agent. */
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import type { Layout } from '../host/pods/layout.ts';
import { removePodDirectory } from '../host/pods/podDirectory.ts';
import type { Maker } from '../host/pods/podMark.ts';
import { knownOwnerOfPodDirectory } from '../host/pods/takePodDirectory.ts';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin } from './plugin.ts';
import { removeSubPaths } from './subPaths.ts';

interface Orphan {
  readonly uid: string;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly maker: Maker;
  readonly plugins: readonly VolumePlugin[];
  readonly signal: AbortSignal;
}

/**
 * Unmounts the volumes of a pod by their directories alone, then deletes the pod's directory; one that this agent did
 * not make stays as it is, with all that is mounted in it. A volume of a plugin that this node does not have is deleted
 * too, but fails with `FailedUnmount` while it is mounted. Idempotent.
 */
export async function removePodFiles({ uid, layout, mounter, maker, plugins, signal }: Orphan): Promise<void> {
  const { kind } = knownOwnerOfPodDirectory(layout, maker, uid);
  if (kind !== 'ours' && kind !== 'missing') return;
  await removeSubPaths({ layout, mounter, signal }, { podUid: uid });
  const volumes = await volumeDirectories(layout, uid);
  await Promise.all(
    volumes.map(async ({ plugin, volume }) => {
      const known = plugins.find(({ name }) => name === plugin);
      await known?.unmount({ podUid: uid, volumeName: volume, layout, mounter, signal });
    }),
  );
  await removePodDirectory({ layout, maker, signal }, uid);
}

/** Lists the volumes that a pod has directories for: plugin (`kubernetes.io/empty-dir`) and volume name. */
async function volumeDirectories(
  layout: Layout,
  uid: string,
): Promise<readonly { readonly plugin: string; readonly volume: string }[]> {
  const root = layout.volumesDir(uid);
  const plugins = await entriesOf(layout, root);
  const found = await Promise.all(
    plugins.map(async (folder) => {
      const names = await entriesOf(layout, path.join(root, folder));
      return names.map((volume) => ({ plugin: folder.replaceAll('~', '/'), volume }));
    }),
  );
  return found.flat();
}

async function entriesOf({ files }: Layout, directory: string): Promise<readonly string[]> {
  try {
    return await files.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
