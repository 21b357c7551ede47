/** Determines which parts of a pod remain to be resized. The chart is in chart.ts. */

import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import { VersionedIndex } from '../../base/values/versionedIndex.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { type Allocation, allocationOf } from '../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import {
  hasSameResources,
  hasSameSize,
  needsRestart,
  type PodResources,
  resizeRefusal,
  resourceKey,
  resourcesOf,
  withResources,
} from '../../kubernetes/resources/resize.ts';
import { containerSize } from '../../kubernetes/resources/resources.ts';
import type { SizedContainer } from '../shared/ports.ts';
import { sortInSpecOrder } from './containers/census.ts';
import type { PodContext } from './context.ts';

/**
 * Returns the version of the pod whose admission is to be requested. If the pod cannot be resized, that version has the
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

/** Returns a pod with different resources. Memoized, because each container of the pod needs the same result. */
const podWithResources = memoize((resources: PodResources) => memoize((pod: Pod) => withResources(pod, resources)));

/**
 * Returns a function that looks up the resources that a container had before the agent restarted. These resources may
 * differ from the pod's current resources if the manifest was edited in the meantime. The function returns undefined if
 * nothing was persisted.
 */
export function persistedSizes({ allocation, allocated }: PodContext): (name: string) => ContainerSize | undefined {
  const { sizes, resources } = allocation ?? {};
  const spec = resources && podWithResources(resources)(allocated).spec;
  return (name) => {
    const persistedSize = lookUp(sizes, name);
    if (persistedSize !== undefined || spec === undefined) return persistedSize;
    const container = resizableContainer(spec, name);
    return container && containerSize(spec, container);
  };
}

/**
 * Returns the last admitted resources of the pod and the actual resources of its containers, from which a replacement
 * of this actor continues.
 */
export const currentAllocation = (context: PodContext): Allocation =>
  allocationOf(context.allocated, isResizing(context) ? { ...context.sizes, ...uncertainSizes(context) } : undefined);

/** Returns the sizes that the next resize attempt and the earlier ones may give to containers, by container name. */
export function attemptedSizes(context: PodContext): Readonly<Record<string, ContainerSize>> {
  const { spec } = context.allocated;
  const nextSizes = containersWithWrongSize(context).flatMap(({ container, size, idToResize }) => {
    const nextSize = containerSize(spec, container);
    return idToResize === undefined || hasSameSize(size, nextSize) ? [] : [[container.name, nextSize] as const];
  });
  return { ...context.attemptedResize?.attemptedSizes, ...Object.fromEntries(nextSizes) };
}

/**
 * Returns the sizes to persist for containers that a failed resize may have changed although their last known size is
 * the admitted one. Because the persisted size differs from the admitted one, the next agent, or a kubelet, resizes the
 * container again. Returns undefined if there are no such containers.
 */
export function uncertainSizes(context: PodContext): Readonly<Record<string, ContainerSize>> | undefined {
  const { allocated, attemptedResize } = context;
  if (attemptedResize === undefined) return undefined;
  const entries = containersWithWrongSize(context).flatMap(({ container, size, isUncertain }) => {
    const attemptedSize = lookUp(attemptedResize.attemptedSizes, container.name);
    const isKnownSizeAdmitted = hasSameSize(size, containerSize(allocated.spec, container));
    return isUncertain && isKnownSizeAdmitted && attemptedSize ? [[container.name, attemptedSize] as const] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Returns the pod whose resources the next attempt or an earlier one may give to the pod's cgroup. */
export const attemptedPod = ({ allocated, appliedPod, attemptedResize }: PodContext): Pod =>
  attemptedResize !== undefined && appliedPod !== undefined && hasSamePodResources(allocated, appliedPod)
    ? attemptedResize.attemptedPod
    : allocated;

/**
 * Returns the spec whose resources are to be persisted for the pod's cgroup, if a failed resize may have changed the
 * cgroup. The persisted resources then differ from the admitted ones, so the next run of the agent applies the admitted
 * ones again.
 */
export function uncertainSpec({ allocated, appliedPod, attemptedResize }: PodContext): PodSpec | undefined {
  if (attemptedResize === undefined || hasSamePodResources(attemptedResize.attemptedPod, allocated)) return undefined;
  const isKnownSpecAdmitted = appliedPod === undefined || hasSamePodResources(appliedPod, allocated);
  return isKnownSpecAdmitted ? attemptedResize.attemptedPod.spec : undefined;
}

/** Whether the pod-level resources of two pods are the same. */
const hasSamePodResources = (first: Pod, second: Pod): boolean =>
  first.spec === second.spec || resourceKey(first.spec.resources ?? {}) === resourceKey(second.spec.resources ?? {});

/**
 * Index of the names of the containers whose size differs from the admitted size. Guards need the names after every
 * event, and a pod may have a thousand containers.
 */
const wrongSizeNames = new VersionedIndex(
  (sizes: PodContext['sizes'], spec: PodSpec) =>
    new Set(Object.keys(sizes).filter((name) => !hasAdmittedSize(spec, name, lookUp(sizes, name)))),
);

/** Whether a container has its admitted size, or cannot be resized. */
function hasAdmittedSize(spec: PodSpec, name: string, size: ContainerSize | undefined): boolean {
  const container = resizableContainer(spec, name);
  return container === undefined || hasSameSize(size, containerSize(spec, container));
}

function resizableContainer(spec: PodSpec, name: string): Container | undefined {
  const placed = findContainerByName(spec, name);
  return placed === undefined || placed.role === 'ephemeral' ? undefined : placed.container;
}

/** Returns the sizes with those of some containers replaced. */
export function withSizes(
  { sizes, allocated: { spec } }: Pick<PodContext, 'sizes' | 'allocated'>,
  changes: readonly (readonly [string, ContainerSize])[],
): PodContext['sizes'] {
  if (changes.length === 0) return sizes;
  const updateNames = (names: Set<string>) => {
    for (const [name, size] of changes) {
      if (hasAdmittedSize(spec, name, size)) names.delete(name);
      else names.add(name);
    }
  };
  return wrongSizeNames.advance(sizes, { ...sizes, ...Object.fromEntries(changes) }, updateNames, spec);
}

/**
 * Returns the containers with a process whose size differs from the admitted size, or may differ after a failed attempt
 * to resize them.
 */
function containersWithWrongSize(context: PodContext) {
  const { allocated, containers, containerIds, sizes, attemptedResize } = context;
  const { spec } = allocated;
  const uncertainIds = new Set(attemptedResize?.containers.map(({ id }) => id));
  const uncertainNames = attemptedResize?.containers.map(({ name }) => name) ?? [];
  return sortInSpecOrder(spec, new Set([...wrongSizeNames.of(sizes, spec), ...uncertainNames])).flatMap((name) => {
    const container = resizableContainer(spec, name);
    const size = lookUp(sizes, name);
    const lifecycle = lookUp(containers, name);
    const hasProcess = lifecycle === 'running' || lifecycle === 'live' || lifecycle === 'launching';
    if (!hasProcess || size === undefined || container === undefined) return [];
    const id = lookUp(containerIds, name);
    const isUncertain = id !== undefined && uncertainIds.has(id);
    if (!isUncertain && hasAdmittedSize(spec, name, size)) return [];
    // A container that has to restart for the resize stops first, and one that is being launched starts first.
    const isReady = id !== undefined && lifecycle !== 'launching' && !needsRestart(spec, container, size);
    return [{ container, size, isUncertain, idToResize: isReady ? id : undefined }];
  });
}

/** Returns the containers to resize while they run. */
export const containersToResize = (context: PodContext): SizedContainer[] =>
  containersWithWrongSize(context).flatMap(({ container: { name }, size, isUncertain, idToResize: id }) =>
    id === undefined ? [] : [{ name, id, size, ...(isUncertain ? { isUncertain } : {}) }],
  );

/** Whether the decision on an update is pending, because other pods are terminating to make room (C24). */
export const awaitsResources = ({ requestedPod, allocated, updateRefusal }: PodContext): boolean =>
  updateRefusal === undefined && !isJsonEqual(requestedPod.spec, allocated.spec);

/** Whether the pod's own cgroup still has, or may have, resources other than the admitted ones. */
export const isCgroupOutdated = ({ appliedPod, allocated, attemptedResize }: PodContext): boolean =>
  attemptedResize !== undefined ||
  (appliedPod?.spec !== allocated.spec &&
    (appliedPod === undefined || !hasSameResources(resourcesOf(appliedPod), resourcesOf(allocated))));

/** Whether the pod can be resized now, i.e. no container has to start or stop first. */
export const mustResize = (context: PodContext): boolean =>
  isResizing(context) && containersWithWrongSize(context).every(({ idToResize }) => idToResize !== undefined);

export const isResizing = (context: PodContext): boolean =>
  isCgroupOutdated(context) || containersWithWrongSize(context).length > 0;
