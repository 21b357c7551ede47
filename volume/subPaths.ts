/** Takes away what containers mounted of a volume that is not the whole of it (C26). */
import path from 'node:path';
import type { VolumeUnmount } from './plugin.ts';

/** The folders below `volume-subpaths`: volume, container, index. */
const DEPTH = 3;

/** Unmounts the parts of a volume that containers of a pod mounted, or those of all its volumes. Idempotent. */
export async function removeSubPaths(
  { layout, mounter, signal }: Pick<VolumeUnmount, 'layout' | 'mounter' | 'signal'>,
  { podUid, volume }: { readonly podUid: string; readonly volume?: string },
): Promise<void> {
  const all = layout.subPathsDir(podUid);
  const below = volume === undefined ? all : layout.subPathsOf(podUid, volume);
  const mounts = await layout.files.mountsUnder(below, signal);
  const base = mounts.length > 0 ? await layout.files.realpath(all) : all;
  for (const mounted of mounts) {
    // What is mounted further in came there by others, and is theirs.
    if (path.relative(base, mounted.path).split('/').length === DEPTH) await mounter.unmount(mounted.path, signal);
  }
  await layout.files.removeTree(below, signal);
}
