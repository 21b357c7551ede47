/** Pods of which only their directories are left: nobody knows them any more after a restart of the agent. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from './fileErrors.ts';
import { isSafeSegment, type Layout } from './layout.ts';
import type { VolumePlugin } from './plugin.ts';
import { removePodDirectory } from './podDirectory.ts';
import { removeSubPaths } from './subPaths.ts';

interface Orphan {
  readonly uid: string;
  readonly layout: Layout;
  readonly plugins: readonly VolumePlugin[];
  readonly signal: AbortSignal;
}

/** Lists the UIDs of the pods that have a directory: what a former run of the agent may have left. */
export async function podDirectories(layout: Layout): Promise<readonly string[]> {
  const entries = await entriesOf(layout.podsDir);
  return entries.filter(isSafeSegment);
}

/**
 * Unmounts the volumes of a pod by their directories alone, then deletes the pod's directory. A volume of a plugin that
 * this node does not have is deleted too, but fails with `FailedUnmount` while it is mounted. Idempotent.
 */
export async function removeOrphan({ uid, layout, plugins, signal }: Orphan): Promise<void> {
  await removeSubPaths(layout, { podUid: uid }, signal);
  const volumes = await volumeDirectories(layout, uid);
  await Promise.all(
    volumes.map(async ({ plugin, volume }) => {
      const known = plugins.find(({ name }) => name === plugin);
      await known?.unmount({ podUid: uid, volumeName: volume, layout, signal });
    }),
  );
  await removePodDirectory(layout, uid, signal);
}

/** Lists the volumes that a pod has directories for: plugin (`kubernetes.io/empty-dir`) and volume name. */
async function volumeDirectories(
  layout: Layout,
  uid: string,
): Promise<readonly { readonly plugin: string; readonly volume: string }[]> {
  const root = layout.volumesDir(uid);
  const plugins = await entriesOf(root);
  const found = await Promise.all(
    plugins.map(async (folder) => {
      const names = await entriesOf(path.join(root, folder));
      return names.map((volume) => ({ plugin: folder.replaceAll('~', '/'), volume }));
    }),
  );
  return found.flat();
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
