/** Removes the files of orphaned pods, i.e. pods that no source lists any more after a restart of the agent. */
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import type { Layout } from '../host/pods/layout.ts';
import { removePodDirectory } from '../host/pods/podDirectory.ts';
import type { Maker } from '../host/pods/podMark.ts';
import { requirePodDirectoryOwner } from '../host/pods/takePodDirectory.ts';
import type { Mounter } from './mount/mounter.ts';
import { removeSubPaths } from './mount/removeSubPaths.ts';
import type { VolumePlugin } from './plugins/plugin.ts';

interface OrphanedPod {
  readonly uid: string;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly ownMark: Maker;
  readonly plugins: readonly VolumePlugin[];
  readonly signal: AbortSignal;
}

/**
 * Unmounts the volumes that have directories in a pod's directory, and deletes the pod's directory. Does nothing if the
 * directory belongs to a different agent. Also deletes volumes of unsupported plugins, but rejects with `FailedUnmount`
 * if one of them is mounted. Idempotent.
 */
export async function removePodFiles({ uid, layout, mounter, ownMark, plugins, signal }: OrphanedPod): Promise<void> {
  const { kind } = requirePodDirectoryOwner(layout, ownMark, uid);
  if (kind !== 'ours' && kind !== 'missing') return;
  await removeSubPaths({ layout, mounter, signal }, { podUid: uid });
  const volumes = await listVolumes(layout, uid);
  await Promise.all(
    volumes.map(async ({ plugin, volume }) => {
      const volumePlugin = plugins.find(({ name }) => name === plugin);
      await volumePlugin?.unmount({ podUid: uid, volumeName: volume, layout, mounter, signal });
    }),
  );
  await removePodDirectory({ layout, maker: ownMark, signal }, uid);
}

/** Lists the plugin (e.g. `kubernetes.io/empty-dir`) and the name of each volume that has a directory. */
async function listVolumes(
  layout: Layout,
  uid: string,
): Promise<readonly { readonly plugin: string; readonly volume: string }[]> {
  const root = layout.volumesDir(uid);
  const pluginNames = await listEntries(layout, root);
  const volumeLists = await Promise.all(
    pluginNames.map(async (pluginFolder) => {
      const names = await listEntries(layout, path.join(root, pluginFolder));
      return names.map((volume) => ({ plugin: pluginFolder.replaceAll('~', '/'), volume }));
    }),
  );
  return volumeLists.flat();
}

async function listEntries({ files }: Layout, directory: string): Promise<readonly string[]> {
  try {
    return await files.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
