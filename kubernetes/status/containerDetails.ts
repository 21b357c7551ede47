/** Computes the fields of a ContainerStatus for the container's image, mounts and user. */

import { lookUp } from '../../base/values/lookUp.ts';
import type { Container } from '../api/schema/container.ts';
import type { ContainerStatus } from '../api/schema/status.ts';
import type { CreatedContainer } from '../lifecycle/observed.ts';

type ContainerDetails = Pick<ContainerStatus, 'image' | 'imageID' | 'volumeMounts' | 'user'>;

/**
 * Returns the details of the container that the runtime created (`created`), or those in the spec if no container
 * exists yet. Omits the fields of the alpha features ContainerStopSignals and ImageVolumeWithDigest, because both are
 * off by default (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
export function containerDetails(spec: Container, created?: CreatedContainer): ContainerDetails {
  return {
    image: created?.image || (spec.image ?? ''),
    imageID: created?.imageRef ?? '',
    ...volumeMounts(spec, created),
    ...(created?.user ? { user: { linux: created.user } } : {}),
  };
}

type MountStatus = NonNullable<ContainerStatus['volumeMounts']>[number];

function volumeMounts(
  { volumeMounts = [] }: Container,
  created?: CreatedContainer,
): Pick<ContainerDetails, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map((mount): MountStatus => {
      const { name, mountPath, readOnly = false } = mount;
      const createdMount = lookUp(created?.mounts, mountPath);
      return {
        name,
        mountPath,
        ...(readOnly ? { readOnly, recursiveReadOnly: effectiveRecursion(mount.recursiveReadOnly, createdMount) } : {}),
      };
    }),
  };
}

/** Returns the effective mode of recursiveReadOnly. For `IfPossible`, it depends on the runtime. */
function effectiveRecursion(requested = 'Disabled', createdMount?: { readonly recursiveReadOnly?: boolean }): string {
  if (requested !== 'IfPossible') return requested;
  return createdMount?.recursiveReadOnly ? 'Enabled' : 'Disabled';
}
