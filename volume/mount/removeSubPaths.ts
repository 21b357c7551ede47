/** Unmounts the subPaths of volumes (C26). */
import path from 'node:path';
import type { VolumeUnmount } from '../plugins/plugin.ts';

/**
 * Depth of the mount points below the `volume-subpaths` directory, with one level each for volume, container and index.
 */
const MOUNT_POINT_DEPTH = 3;

/** Unmounts the subPaths of one or all volumes of a pod. Idempotent. */
export async function removeSubPaths(
  { layout, mounter, signal }: Pick<VolumeUnmount, 'layout' | 'mounter' | 'signal'>,
  { podUid, volume }: { readonly podUid: string; readonly volume?: string },
): Promise<void> {
  const podDirectory = layout.subPathsDir(podUid);
  const directory = volume === undefined ? podDirectory : layout.volumeSubPathsDir(podUid, volume);
  const mountPoints = await layout.files.mountsUnder(directory, signal);
  const basePath = mountPoints.length > 0 ? await layout.files.realpath(podDirectory) : podDirectory;
  for (const mounted of mountPoints) {
    // Skip deeper mounts, which other software has created.
    if (path.relative(basePath, mounted.path).split('/').length === MOUNT_POINT_DEPTH)
      await mounter.unmount(mounted.path, signal);
  }
  await layout.files.removeTree(directory, signal);
}
