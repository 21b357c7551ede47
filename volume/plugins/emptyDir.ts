/** The plugin for emptyDir, a scratch directory of a pod on the node's disk or in memory. */

import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { type Layout, PRIVATE_MODE } from '../../host/pods/layout.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { EmptyDirVolumeSource } from '../../kubernetes/api/schema/volume.ts';
import { hugePageSize } from '../../kubernetes/api/validation/resources/resourceNames.ts';
import { parseQuantity } from '../../kubernetes/api/values/quantity.ts';
import type { MountedPath } from '../../kubernetes/mountedVolume.ts';
import { createVolumeDirectory, type Medium, memoryMedium, removeVolumeDirectory } from './memory.ts';
import type { VolumeMount, VolumePlugin, VolumeUnmount } from './plugin.ts';

const PLUGIN_NAME = 'kubernetes.io/empty-dir';
const FULL_ACCESS = 0o777;
/**
 * Mode that marks a directory whose creation is incomplete. It consists of the sticky bit without any permissions, a
 * mode that no container would set.
 */
const INCOMPLETE_MODE = 0o1000;

/**
 * Plugin for `emptyDir`. Mounting creates the directory or returns the existing one with its contents. Unmounting
 * deletes it.
 */
export const emptyDirPlugin: VolumePlugin<MountedPath> = {
  name: PLUGIN_NAME,
  supportsVolume: (volume) => volume.emptyDir !== undefined,
  mount: mountEmptyDir,
  unmount: unmountEmptyDir,
};

async function mountEmptyDir(request: VolumeMount): Promise<MountedPath> {
  const { pod, volume, layout, mounter, signal } = request;
  const { files } = layout;
  const { uid } = pod.metadata;
  if (volume.emptyDir === undefined) throw new TypeError(`volume ${volume.name} has no emptyDir`);
  const hostPath = layout.volumeDir(uid, PLUGIN_NAME, volume.name);
  const medium = selectMedium(request, volume.emptyDir);
  const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
  const readyFile = readyFilePath(layout, uid, volume.name);
  const { existed } = await createVolumeDirectory(hostPath, medium, { layout, mounter, signal, mode: INCOMPLETE_MODE });
  // Leave a completed directory unchanged, because containers may have changed its mode or ownership.
  if (existed && (await (fsGroup === undefined ? hasFinalMode(files, hostPath) : exists(files, readyFile))))
    return { kind: 'path', hostPath, own: true };
  if (medium === undefined) await files.chmod(hostPath, FULL_ACCESS);
  if (fsGroup === undefined) return { kind: 'path', hostPath, own: true };
  await mounter.setOwnership(hostPath, { fsGroup, readOnly: false, ...(policy ? { policy } : {}), signal });
  await files.mkdir(path.dirname(readyFile), { recursive: true, mode: PRIVATE_MODE });
  await files.writeFile(readyFile, '');
  return { kind: 'path', hostPath, own: true };
}

/**
 * Whether the directory has its final mode. For a volume without an fsGroup, the final mode shows that the directory
 * was created completely.
 */
async function hasFinalMode(files: FileSystem, hostPath: string): Promise<boolean> {
  return ((await files.stat(hostPath)).mode & (FULL_ACCESS | INCOMPLETE_MODE)) !== INCOMPLETE_MODE;
}

/** Returns the path of a file that marks a volume with an fsGroup as complete, i.e. with its final ownership. */
function readyFilePath(layout: Layout, uid: string, volume: string): string {
  return path.join(layout.pluginDir(uid, PLUGIN_NAME, volume), 'ready');
}

async function exists(files: FileSystem, file: string): Promise<boolean> {
  try {
    await files.stat(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Returns the medium to mount on the directory, or undefined for the node's disk. */
function selectMedium(request: VolumeMount, { medium = '', sizeLimit }: EmptyDirVolumeSource): Medium | undefined {
  if (medium === '') return undefined;
  if (medium === 'Memory') return memoryMedium(request, sizeLimit);
  const [, size] = /^HugePages(?:-(.+))?$/.exec(medium) ?? [];
  if (!medium.startsWith('HugePages') || (size !== undefined && parseQuantity(size) === undefined)) {
    throw mountFailure(`emptyDir medium "${medium}" is not supported on this node`);
  }
  return { type: 'hugetlbfs', options: [`pagesize=${pageSize(request.pod.spec, medium, size)}`] };
}

/**
 * Returns the huge page size that the pod or its containers request. If the medium specifies a size, requests for other
 * sizes are ignored. Fails with `FailedMount` unless exactly one size remains.
 */
function pageSize(spec: PodSpec, medium: string, sizeInMedium: string | undefined): string {
  const requesters = [spec, ...spec.containers, ...(spec.initContainers ?? [])];
  const requestedSizes = requesters.flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}).flatMap((name) => hugePageSize(name) ?? []),
  );
  const matchesMedium = (size: string) =>
    sizeInMedium === undefined || parseQuantity(size) === parseQuantity(sizeInMedium);
  const [first, ...otherSizes] = requestedSizes.filter(matchesMedium);
  if (first === undefined) {
    throw mountFailure(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    );
  }
  if (otherSizes.some((size) => parseQuantity(size) !== parseQuantity(first))) {
    throw mountFailure(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  }
  return first;
}

function mountFailure(message: string): NodeFailure {
  return new NodeFailure('FailedMount', message);
}

async function unmountEmptyDir({ podUid, volumeName, layout, mounter, signal }: VolumeUnmount): Promise<void> {
  await layout.files.rm(layout.pluginDir(podUid, PLUGIN_NAME, volumeName), { recursive: true, force: true });
  await removeVolumeDirectory(layout.volumeDir(podUid, PLUGIN_NAME, volumeName), { layout, mounter, signal });
}
