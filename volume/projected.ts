/** Files that a pod is given: of itself, of ConfigMaps, Secrets and tokens; brought up to date in place, all at once. */

import path from 'node:path';
import { messageOf, NodeFailure } from '../base/failure.ts';
import { errorCode } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import type { Volume } from '../kubernetes/api/schema/volume.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import { showFiles } from './atomicFiles.ts';
import { makeDirectory, memoryMedium, removeDirectory } from './memory.ts';
import { nestedMountPoints } from './nestedMounts.ts';
import { type Payload, payloadOf } from './payload.ts';
import type { VolumeMount, VolumePlugin } from './plugin.ts';

/** The plugin for `downwardAPI`; mounting it again writes what has changed. */
export const downwardApiPlugin = filesPlugin('kubernetes.io/downward-api', ({ downwardAPI }) => downwardAPI);

/** The plugin for `projected`; mounting it again writes what has changed. */
export const projectedPlugin = filesPlugin('kubernetes.io/projected', ({ projected }) => projected);

/** The plugin for `secret`; mounting it again writes what has changed. */
export const secretPlugin = filesPlugin('kubernetes.io/secret', ({ secret }) => secret);

/** The plugin for `configMap`, which alone is on the disk; mounting it again writes what has changed. */
export const configMapPlugin = filesPlugin('kubernetes.io/configmap', ({ configMap }) => configMap, { onDisk: true });

/** As those of an emptyDir are: who may read what is in it the files say. */
const ALL_RIGHTS = 0o777;
const MOUNT_POINT = 0o755;

function filesPlugin(
  name: string,
  sourceOf: (volume: Volume) => unknown,
  { onDisk = false }: { readonly onDisk?: boolean } = {},
): VolumePlugin<MountedPath> {
  return {
    name,
    supports: (volume) => sourceOf(volume) !== undefined,
    mount: async (request) => {
      const { pod, volume, layout } = request;
      const payload = await payloadOf(request);
      const hostPath = layout.volumeDir(pod.metadata.uid, name, volume.name);
      await makePlace(request, { hostPath, onDisk });
      await show(request, hostPath, payload).catch((error) => {
        throw errorCode(error) === undefined ? error : unwritable(volume, error);
      });
      const { files: _, ...tokens } = payload;
      return { kind: 'path', hostPath, own: true, ...tokens };
    },
    unmount: ({ podUid, volumeName, layout, mounter, signal }) =>
      removeDirectory(layout.volumeDir(podUid, name, volumeName), { layout, mounter, signal }),
  };
}

async function makePlace(
  request: VolumeMount,
  { hostPath, onDisk }: { readonly hostPath: string; readonly onDisk: boolean },
): Promise<void> {
  const { pod, volume, layout, mounter, signal } = request;
  // Earlier versions had it in memory, and containers may have mounted it there.
  if (onDisk) await makeDirectory(hostPath, undefined, { layout, mounter, signal, orMounted: 'tmpfs' });
  else await makeDirectory(hostPath, memoryMedium(request), { layout, mounter, signal });
  if (onDisk) await openToAll(layout.files, hostPath);
  for (const point of nestedMountPoints(pod, volume.name))
    await layout.files.mkdir(path.join(hostPath, point), { recursive: true, mode: MOUNT_POINT });
}

async function openToAll(files: FileSystem, directory: string): Promise<void> {
  const { mode } = await files.stat(directory);
  if ((mode & ALL_RIGHTS) !== ALL_RIGHTS) await files.chmod(directory, (mode & 0o7777) | ALL_RIGHTS);
}

async function show({ pod, layout, mounter, now, signal }: VolumeMount, hostPath: string, { files }: Payload) {
  const fsGroup = pod.spec.securityContext?.fsGroup;
  const beforeShown = async () => {
    if (fsGroup !== undefined) await mounter.setOwnership(hostPath, { fsGroup, readOnly: true, signal });
  };
  await showFiles(layout.files, hostPath, { shown: files, now, beforeShown, signal });
}

function unwritable({ name }: Volume, cause: unknown): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${name}": its files cannot be written: ${messageOf(cause)}`, {
    cause,
  });
}
