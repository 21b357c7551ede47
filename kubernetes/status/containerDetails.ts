/** What a ContainerStatus says of a container beside its state: its image, mounts, user and stop signal. */

import { lookUp } from '../../base/lookUp.ts';
import type { Container } from '../api/schema/container.ts';
import type { ContainerStatus } from '../api/schema/status.ts';
import type { MadeContainer } from '../lifecycle/observed.ts';

type Details = Pick<ContainerStatus, 'image' | 'imageID' | 'volumeMounts' | 'user' | 'stopSignal'>;

/** `made` is what the runtime made of it; before that, the spec alone tells of it. */
export function containerDetails(spec: Container, made?: MadeContainer): Details {
  return {
    image: made?.image || (spec.image ?? ''),
    imageID: made?.imageRef ?? '',
    ...volumeMounts(spec, made),
    ...(made?.user ? { user: { linux: made.user } } : {}),
    ...(made?.stopSignal ? { stopSignal: made.stopSignal } : {}),
  };
}

type MountStatus = NonNullable<ContainerStatus['volumeMounts']>[number];

function volumeMounts({ volumeMounts = [] }: Container, made?: MadeContainer): Pick<Details, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map((mount): MountStatus => {
      const { name, mountPath, readOnly = false } = mount;
      const shown = lookUp(made?.mounts, mountPath);
      return {
        name,
        mountPath,
        ...(readOnly ? { readOnly, recursiveReadOnly: recursion(mount.recursiveReadOnly, shown) } : {}),
        ...(shown?.image ? { volumeStatus: { image: { imageRef: shown.image } } } : {}),
      };
    }),
  };
}

/** IfPossible is told as what came of it. */
function recursion(wanted = 'Disabled', shown?: { readonly recursiveReadOnly?: boolean }): string {
  if (wanted !== 'IfPossible') return wanted;
  return shown?.recursiveReadOnly ? 'Enabled' : 'Disabled';
}
