/**
 * Determines which steps of a pod's resize remain. The containers are resized first, then the pod's own cgroup. The
 * chart is in chart.ts.
 */

import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type Allocation, allocationOf } from '../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import {
  hasSameResources,
  hasSameSize,
  resizeRefusal,
  resourcesOf,
  withResources,
} from '../../kubernetes/resources/resize.ts';
import { containerSize } from '../../kubernetes/resources/resources.ts';
import type { PodContext } from './context.ts';

/**
 * Returns the version of the pod for which to request admission. If the pod cannot be resized, that version has the
 * pod's current resources.
 */
export function requestedVersion(
  { allocated, limitedSwap }: Pick<PodContext, 'allocated' | 'limitedSwap'>,
  desired: Pod,
): { desired: Pod; requestedPod: Pod; updateRefusal: Refusal | undefined } {
  const updateRefusal = resizeRefusal(allocated, desired, limitedSwap);
  const requestedPod = updateRefusal === undefined ? desired : withResources(desired, resourcesOf(allocated));
  return { desired, requestedPod, updateRefusal };
}

/**
 * Returns a function that looks up the size that a container had when the previous agent stopped. The pod's current
 * resources may differ from it if the manifest was edited in the meantime. The size is undefined if none was persisted.
 */
export function persistedSizes({ allocation, allocated }: PodContext): (name: string) => ContainerSize | undefined {
  const { sizes, resources } = allocation ?? {};
  const spec = resources && withResources(allocated, resources).spec;
  return (name) => {
    const persistedSize = lookUp(sizes, name);
    if (persistedSize !== undefined || spec === undefined) return persistedSize;
    const placedContainer = findContainerByName(spec, name);
    return placedContainer === undefined || placedContainer.role === 'ephemeral'
      ? undefined
      : containerSize(spec, placedContainer.container);
  };
}

/**
 * Returns the last admitted resources and the actual sizes of the containers, from which a replacement of this actor
 * continues.
 */
export const currentAllocation = (context: PodContext): Allocation =>
  allocationOf(context.allocated, isResizing(context) ? context.sizes : undefined);

/** Whether any container that has a process has a size other than the admitted size. */
const hasContainerWithWrongSize = ({ allocated, containers, sizes }: PodContext): boolean => {
  const { spec } = allocated;
  return [...(spec.initContainers ?? []), ...spec.containers].some((container) => {
    const size = lookUp(sizes, container.name);
    const lifecycle = lookUp(containers, container.name);
    const hasProcess = lifecycle === 'running' || lifecycle === 'live' || lifecycle === 'launching';
    return hasProcess && size !== undefined && !hasSameSize(size, containerSize(spec, container));
  });
};

/** Whether the decision on an update is pending, because other pods are terminating to make room (C24). */
export const awaitsResources = ({ requestedPod, allocated, updateRefusal }: PodContext): boolean =>
  updateRefusal === undefined && !isJsonEqual(requestedPod.spec, allocated.spec);

/** Whether the pod's own cgroup does not have the admitted resources yet. */
export const isCgroupOutdated = ({ appliedPod, allocated }: PodContext): boolean =>
  appliedPod?.spec !== allocated.spec &&
  (appliedPod === undefined || !hasSameResources(resourcesOf(appliedPod), resourcesOf(allocated)));

/** Whether the pod's cgroup can be resized, because all containers have the admitted sizes. */
export const mustResizeCgroup = (context: PodContext): boolean =>
  isCgroupOutdated(context) && !hasContainerWithWrongSize(context);

export const isResizing = (context: PodContext): boolean =>
  isCgroupOutdated(context) || hasContainerWithWrongSize(context);
