/**
 * Plugins for volumes with files from the pod, ConfigMaps, Secrets and tokens. The files are updated atomically while
 * the volume stays mounted.
 */

import path from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import type { MountedPath } from '../../kubernetes/mountedVolume.ts';
import { nestedMountPoints } from '../mount/nestedMounts.ts';
import { publishFiles } from '../publishFiles.ts';
import { createVolumeDirectory, memoryMedium, removeVolumeDirectory } from './memory.ts';
import { collectPayload, type Payload } from './payload.ts';
import type { VolumeMount, VolumePlugin } from './plugin.ts';

/** Plugin for `downwardAPI`. Mounting the volume again updates the files. */
export const downwardApiPlugin = filesPlugin('kubernetes.io/downward-api', ({ downwardAPI }) => downwardAPI);

/** Plugin for `projected`. Mounting the volume again updates the files. */
export const projectedPlugin = filesPlugin('kubernetes.io/projected', ({ projected }) => projected);

/** Plugin for `secret`. Mounting the volume again updates the files. */
export const secretPlugin = filesPlugin('kubernetes.io/secret', ({ secret }) => secret);

/**
 * Plugin for `configMap`. Unlike the other plugins in this file, it stores the files on disk instead of in memory.
 * Mounting the volume again updates the files.
 */
export const configMapPlugin = filesPlugin('kubernetes.io/configmap', ({ configMap }) => configMap, { onDisk: true });

/**
 * Mode of the volume's directory, the same as for an emptyDir. Access is restricted by the modes of the files instead.
 */
const FULL_ACCESS = 0o777;
const MOUNT_POINT_MODE = 0o755;

function filesPlugin(
  name: string,
  getSource: (volume: Volume) => unknown,
  { onDisk = false }: { readonly onDisk?: boolean } = {},
): VolumePlugin<MountedPath> {
  return {
    name,
    supportsVolume: (volume) => getSource(volume) !== undefined,
    mount: async (request) => {
      const { pod, volume, layout } = request;
      const payload = await collectPayload(request);
      const hostPath = layout.volumeDir(pod.metadata.uid, name, volume.name);
      await createDirectories(request, { hostPath, onDisk });
      await publishPayload(request, hostPath, payload).catch((error) => {
        throw errorCode(error) === undefined ? error : writeFailure(volume, error);
      });
      const { files: _, ...tokens } = payload;
      return { kind: 'path', hostPath, own: true, ...tokens };
    },
    unmount: ({ podUid, volumeName, layout, mounter, signal }) =>
      removeVolumeDirectory(layout.volumeDir(podUid, name, volumeName), { layout, mounter, signal }),
  };
}

async function createDirectories(
  request: VolumeMount,
  { hostPath, onDisk }: { readonly hostPath: string; readonly onDisk: boolean },
): Promise<void> {
  const { pod, volume, layout, mounter, signal } = request;
  // Accept a tmpfs, because earlier versions of the agent mounted one, which containers may still use.
  if (onDisk) await createVolumeDirectory(hostPath, undefined, { layout, mounter, signal, allowedMount: 'tmpfs' });
  else await createVolumeDirectory(hostPath, memoryMedium(request), { layout, mounter, signal });
  if (onDisk) await grantFullAccess(layout.files, hostPath);
  for (const point of nestedMountPoints(pod, volume.name))
    await layout.files.mkdir(path.join(hostPath, point), { recursive: true, mode: MOUNT_POINT_MODE });
}

async function grantFullAccess(files: FileSystem, directory: string): Promise<void> {
  const { mode } = await files.stat(directory);
  if ((mode & FULL_ACCESS) !== FULL_ACCESS) await files.chmod(directory, (mode & 0o7777) | FULL_ACCESS);
}

async function publishPayload(
  { pod, layout, mounter, now, signal }: VolumeMount,
  hostPath: string,
  { files }: Payload,
) {
  const fsGroup = pod.spec.securityContext?.fsGroup;
  const confirmSources = async () => {
    if (fsGroup !== undefined) await mounter.setOwnership(hostPath, { fsGroup, readOnly: true, signal });
  };
  await publishFiles(layout.files, hostPath, { files, now, onBeforePublish: confirmSources, signal });
}

function writeFailure({ name }: Volume, cause: unknown): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${name}": its files cannot be written: ${messageOf(cause)}`, {
    cause,
  });
}
