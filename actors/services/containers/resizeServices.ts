/**
 * Implements the ports of an in-place resize. Containers are resized over the CRI. The pod's cgroup is resized through
 * the cgroup's files.
 */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { containerResources } from '../../../cri/config/linuxResources.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import { containerSize } from '../../../kubernetes/resources/resources.ts';
import type { PortServices } from '../../boundary.ts';
import { findContainer } from './containers.ts';

export interface ResizeDependencies {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly cgroups?: Cgroups | undefined;
}

export function resizeServices({
  cri,
  node,
  cgroups,
}: ResizeDependencies): Pick<PortServices, 'resizeContainer' | 'resizePodCgroup'> {
  return {
    resizeContainer: async ({ pod, container: name, id }, options) => {
      const container = findContainer(pod, name);
      const desiredSize = containerSize(pod.spec, container);
      await requireHeadroom(cri, { id, name, limit: desiredSize.memoryLimit }, options);
      // Raise the limits of the parent cgroups first, because they also limit the container.
      await cgroups?.raise(pod).catch(rejectResize);
      const linuxResources = containerResources(pod, container, node());
      const request = { containerId: id, linux: linuxResources, windows: undefined, annotations: {} };
      await cri.updateContainerResources(request, options).catch(rejectResize);
      return { size: desiredSize };
    },
    resizePodCgroup: async ({ pod }) => {
      await cgroups?.trim(pod).catch(rejectResize);
      return null;
    },
  };
}

/** Rejects a memory limit below the current usage, because the kernel would kill the container. */
async function requireHeadroom(
  cri: Cri,
  { id, name, limit }: { id: string; name: string; limit: number },
  options: CallOptions,
): Promise<void> {
  if (limit === 0) return;
  const { stats } = await cri.containerStats({ containerId: id }, options).catch(rejectResize);
  const usedBytes = Number(stats?.memory?.usageBytes?.value ?? 0n);
  if (usedBytes < limit) return;
  const cause = `attempting to set container "${name}" memory limit (${limit}) below current usage (${usedBytes})`;
  throw new NodeFailure('ResizePodInPlaceError', `cannot decrease memory limits: ${cause}`);
}

function rejectResize(cause: unknown): never {
  if (cause instanceof NodeFailure && cause.reason === 'RuntimeUnavailable') throw cause;
  const message = messageOf(cause);
  throw new NodeFailure('ResizePodInPlaceError', message, { cause });
}
