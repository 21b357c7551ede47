/**
 * downwardAPI and projected: files of the pod itself, in memory, brought up to date in place. configMap and secret without
 * an API server: nothing, where that is allowed.
 */

import { errorCode } from '../host/files/fileErrors.ts';
import type { Volume } from '../pod/api/schema/volume.ts';
import { projectedFiles } from '../pod/environment/projection.ts';
import { messageOf, NodeFailure } from '../pod/failure.ts';
import type { MountedPath } from '../pod/mountedVolume.ts';
import { showFiles } from './atomicFiles.ts';
import { makeDirectory, memoryMedium, removeDirectory } from './memory.ts';
import type { VolumePlugin } from './plugin.ts';

/** The plugin for `downwardAPI`; mounting it again writes what has changed. */
export const downwardApiPlugin = filesPlugin('kubernetes.io/downward-api', ({ downwardAPI }) => downwardAPI);

/** The plugin for `projected`; mounting it again writes what has changed. */
export const projectedPlugin = filesPlugin('kubernetes.io/projected', ({ projected }) => projected);

/** The plugin for `configMap`: an optional one is empty. */
export const configMapPlugin = filesPlugin('kubernetes.io/configmap', ({ configMap }) => configMap);

/** The plugin for `secret`: an optional one is empty. */
export const secretPlugin = filesPlugin('kubernetes.io/secret', ({ secret }) => secret);

function filesPlugin(name: string, sourceOf: (volume: Volume) => unknown): VolumePlugin<MountedPath> {
  return {
    name,
    supports: (volume) => sourceOf(volume) !== undefined,
    mount: async (request) => {
      const { pod, volume, layout, mounter, allocatable, now, signal } = request;
      const shown = projectedFiles(pod, volume, allocatable);
      const hostPath = layout.volumeDir(pod.metadata.uid, name, volume.name);
      const fsGroup = pod.spec.securityContext?.fsGroup;
      const beforeShown = async () => {
        if (fsGroup !== undefined) await mounter.setOwnership(hostPath, { fsGroup, readOnly: true, signal });
      };
      await makeDirectory(hostPath, memoryMedium(request), { layout, mounter, signal });
      await showFiles(layout.files, hostPath, { shown, now, beforeShown, signal }).catch((error) => {
        throw errorCode(error) === undefined ? error : unwritable(volume, error);
      });
      return { kind: 'path', hostPath, own: true };
    },
    unmount: ({ podUid, volumeName, layout, mounter, signal }) =>
      removeDirectory(layout.volumeDir(podUid, name, volumeName), { layout, mounter, signal }),
  };
}

function unwritable({ name }: Volume, cause: unknown): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${name}": its files cannot be written: ${messageOf(cause)}`, {
    cause,
  });
}
