/** emptyDir: a pod's scratch directory, on the node's disk or in memory. */

import path from 'node:path';
import { NodeFailure } from '../base/failure.ts';
import { isMissing } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import { type Layout, PRIVATE } from '../host/pods/layout.ts';
import { parseQuantity } from '../kubernetes/api/quantity.ts';
import type { PodSpec } from '../kubernetes/api/schema/pod.ts';
import type { EmptyDirVolumeSource } from '../kubernetes/api/schema/volume.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import { type Medium, makeDirectory, memoryMedium, removeDirectory } from './memory.ts';
import type { VolumeMount, VolumePlugin, VolumeUnmount } from './plugin.ts';

const NAME = 'kubernetes.io/empty-dir';
const ALL_RIGHTS = 0o777;
/** The mode of a directory whose making has not come to its end: sticky without rights, which no container has a use for. */
const UNFINISHED = 0o1000;

/** The plugin for `emptyDir`: mounting makes it, or finds it with its content; unmounting deletes it. */
export const emptyDirPlugin: VolumePlugin<MountedPath> = {
  name: NAME,
  supports: (volume) => volume.emptyDir !== undefined,
  mount: mountEmptyDir,
  unmount: unmountEmptyDir,
};

async function mountEmptyDir(request: VolumeMount): Promise<MountedPath> {
  const { pod, volume, layout, mounter, signal } = request;
  const { files } = layout;
  const { uid } = pod.metadata;
  if (volume.emptyDir === undefined) throw new TypeError(`volume ${volume.name} has no emptyDir`);
  const hostPath = layout.volumeDir(uid, NAME, volume.name);
  const medium = mediumOf(request, volume.emptyDir);
  const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
  const ready = readyFile(layout, uid, volume.name);
  const { wasThere } = await makeDirectory(hostPath, medium, { layout, mounter, signal, rights: UNFINISHED });
  // What containers have made of it since is theirs.
  if (wasThere && (await (fsGroup === undefined ? isFinished(files, hostPath) : exists(files, ready))))
    return { kind: 'path', hostPath, own: true };
  if (medium === undefined) await files.chmod(hostPath, ALL_RIGHTS);
  if (fsGroup === undefined) return { kind: 'path', hostPath, own: true };
  await mounter.setOwnership(hostPath, { fsGroup, readOnly: false, ...(policy ? { policy } : {}), signal });
  await files.mkdir(path.dirname(ready), { recursive: true, mode: PRIVATE });
  await files.writeFile(ready, '');
  return { kind: 'path', hostPath, own: true };
}

/** Whether it got its rights: unless a group is to own it that is all there is to do. */
async function isFinished(files: FileSystem, hostPath: string): Promise<boolean> {
  return ((await files.stat(hostPath)).mode & (ALL_RIGHTS | UNFINISHED)) !== UNFINISHED;
}

/** Says that a volume was made in full once, its group included. */
function readyFile(layout: Layout, uid: string, volume: string): string {
  return path.join(layout.pluginDir(uid, NAME, volume), 'ready');
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

/** What is mounted on the directory; undefined for the node's disk itself. */
function mediumOf(request: VolumeMount, { medium = '', sizeLimit }: EmptyDirVolumeSource): Medium | undefined {
  if (medium === '') return undefined;
  if (medium === 'Memory') return memoryMedium(request, sizeLimit);
  const [, size] = /^HugePages(?:-(.+))?$/.exec(medium) ?? [];
  if (!medium.startsWith('HugePages') || (size !== undefined && parseQuantity(size) === undefined)) {
    throw refusal(`emptyDir medium "${medium}" is not supported on this node`);
  }
  return { type: 'hugetlbfs', options: [`pagesize=${pageSize(request.pod.spec, medium, size)}`] };
}

/** The size of page that the pod's containers ask for: their only one, or the one that the medium names. */
function pageSize(spec: PodSpec, medium: string, named: string | undefined): string {
  const asked = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}).flatMap((name) => /^hugepages-(.+)$/.exec(name)?.[1] ?? []),
  );
  const isNamed = (size: string) => named === undefined || parseQuantity(size) === parseQuantity(named);
  const [first, ...others] = asked.filter(isNamed);
  if (first === undefined) {
    throw refusal(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  }
  if (others.some((size) => parseQuantity(size) !== parseQuantity(first))) {
    throw refusal(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  }
  return first;
}

function refusal(message: string): NodeFailure {
  return new NodeFailure('FailedMount', message);
}

async function unmountEmptyDir({ podUid, volumeName, layout, mounter, signal }: VolumeUnmount): Promise<void> {
  await layout.files.rm(layout.pluginDir(podUid, NAME, volumeName), { recursive: true, force: true });
  await removeDirectory(layout.volumeDir(podUid, NAME, volumeName), { layout, mounter, signal });
}
