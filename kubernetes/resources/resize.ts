/**
 * Implements the rules of in-place resize. Decides which changes to a pod's resources a node accepts while the
 * containers run, and formats the messages about them.
 */

import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import type { Refusal, RefusalReason } from '../admission/refusal.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodCondition } from '../api/schema/status.ts';
import { parseQuantity } from '../api/values/quantity.ts';
import type { ContainerSize } from './containerSize.ts';
import { qosClass } from './qos.ts';
import { amountOf, containerSize } from './resources.ts';
import { canUseSwap } from './swap.ts';

/** Resources of a pod, and of its containers by name. They are admitted separately from the rest of the spec. */
export interface PodResources {
  readonly pod?: ResourceRequirements;
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
}

/**
 * Returns the resources that a resize can change, i.e. those of the pod and of all containers except ephemeral ones
 * (`IsResizableContainer` in `pkg/kubelet/allocation/allocation_manager.go`).
 */
export const resourcesOf = ({ spec }: Pod): PodResources => resourcesInSpec(spec);

const resourcesInSpec = memoize((spec: PodSpec): PodResources => {
  const resizableContainers = [...(spec.initContainers ?? []), ...spec.containers];
  return {
    ...(spec.resources ? { pod: spec.resources } : {}),
    containers: Object.fromEntries(resizableContainers.map(({ name, resources = {} }) => [name, resources])),
  };
});

/**
 * Returns the pod with the target resources. A container that `target` does not contain retains its resources. Returns
 * the same object if nothing differs.
 */
export function withResources(pod: Pod, target: PodResources): Pod {
  if (hasSameResources(resourcesOf(pod), target)) return pod;
  const { resources: _own, ...spec } = pod.spec;
  const withTargetResources = (container: Container): Container => {
    const resources = lookUp(target.containers, container.name);
    return resources === undefined ? container : { ...container, resources };
  };
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(withTargetResources),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(withTargetResources) } : {}),
      ...(target.pod ? { resources: target.pod } : {}),
    },
  };
}

/** Whether the pod-level resources and the resources of each container that occurs in both arguments are equal. */
export function hasSameResources(first: PodResources, second: PodResources): boolean {
  if (first === second) return true;
  const names = Object.keys(first.containers).filter((name) => Object.hasOwn(second.containers, name));
  const isEqual = (a: ResourceRequirements = {}, b: ResourceRequirements = {}) => resourceKey(a) === resourceKey(b);
  return (
    isEqual(first.pod, second.pod) &&
    names.every((name) => isEqual(lookUp(first.containers, name), lookUp(second.containers, name)))
  );
}

/** Returns a key for comparing resources. Two keys are equal if all amounts are equal. */
export function resourceKey({ requests = {}, limits = {} }: ResourceRequirements): string {
  return [requests, limits]
    .map((list) =>
      Object.keys(list)
        .sort()
        .map((name) => `${name}=${parseQuantity(lookUp(list, name) ?? '') ?? 0n}`)
        .join(),
    )
    .join('/');
}

/**
 * Messages about a resize that can never be admitted. Each key is the label under which the metric of such resizes
 * counts it. The kubelet has only the first three.
 */
const INFEASIBLE_MESSAGES = {
  swap_limitation: 'In-place resize of containers with swap is not supported.',
  guaranteed_pod_cpu_manager_static_policy:
    'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
  guaranteed_pod_memory_manager_static_policy:
    'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
  qos_class_change: 'Pod QOS Class may not change as a result of resizing',
  immutable_resource: 'only cpu and memory resources are mutable',
  limit_removed: 'resource limits cannot be removed',
  request_removed: 'resource requests cannot be removed',
};

export const infeasibleRefusal = (detail: keyof typeof INFEASIBLE_MESSAGES): Refusal => ({
  reason: 'Infeasible',
  message: INFEASIBLE_MESSAGES[detail],
});

/** Returns the metric label for the message of an infeasible resize. */
export const infeasibleDetail = (message: string): string =>
  Object.entries(INFEASIBLE_MESSAGES).find(([, text]) => text === message)?.[0] ?? 'other';

/**
 * Returns a refusal if a change to the pod's resources is impossible regardless of the node's capacity, or undefined if
 * the change is possible. `canUseSwap` says whether pods may use the node's swap.
 */
export function resizeRefusal(allocatedPod: Pod, desiredPod: Pod, canUseSwap = false): Refusal | undefined {
  const [allocatedResources, desiredResources] = [resourcesOf(allocatedPod), resourcesOf(desiredPod)];
  if (hasSameResources(allocatedResources, desiredResources)) return undefined;
  if (qosClass(withResources(allocatedPod, desiredResources).spec) !== qosClass(allocatedPod.spec)) {
    return infeasibleRefusal('qos_class_change');
  }
  const resourcePairs = [
    [allocatedResources.pod, desiredResources.pod],
    ...Object.keys(desiredResources.containers).map((name) => [
      lookUp(allocatedResources.containers, name),
      lookUp(desiredResources.containers, name),
    ]),
  ];
  for (const [before = {}, after = {}] of resourcePairs) {
    if (immutableKey(before) !== immutableKey(after)) return infeasibleRefusal('immutable_resource');
    if (hasRemovedAmount(before.limits, after.limits)) return infeasibleRefusal('limit_removed');
    if (hasRemovedAmount(before.requests, after.requests)) return infeasibleRefusal('request_removed');
  }
  return canUseSwap && wouldChangeSwap(allocatedPod, withResources(allocatedPod, desiredResources))
    ? infeasibleRefusal('swap_limitation')
    : undefined;
}

/** Whether a change to a container's memory request would require changing the container's swap limit while it runs. */
function wouldChangeSwap(allocatedPod: Pod, desiredPod: Pod): boolean {
  const allocatedByName = new Map(containersOf(allocatedPod.spec).map(({ container }) => [container.name, container]));
  return containersOf(desiredPod.spec).some(({ container }) => {
    const allocatedContainer = allocatedByName.get(container.name);
    if (allocatedContainer === undefined || needsRestartFor(allocatedContainer, 'memory')) return false;
    const [allocatedMemory, desiredMemory] = [allocatedContainer, container].map(({ resources }) =>
      amountOf(resources, 'requests', 'memory'),
    );
    return (
      allocatedMemory !== desiredMemory &&
      (canUseSwap(allocatedPod, allocatedContainer) || canUseSwap(desiredPod, container))
    );
  });
}

/**
 * Returns the resources whose requests differ in at least one container between two versions of a pod
 * (`guaranteedPodResourceResizeRequired` in `pkg/kubelet/allocation/handlers.go`). Ignores containers that only one of
 * the versions has.
 */
export function changedRequests(before: Pod, after: Pod): readonly ResizableResource[] {
  const [formerResources, nextResources] = [resourcesOf(before).containers, resourcesOf(after).containers];
  return RESIZABLE_RESOURCES.filter((resource) =>
    Object.entries(nextResources).some(([name, next]) => {
      const former = lookUp(formerResources, name);
      return former !== undefined && amountOf(former, 'requests', resource) !== amountOf(next, 'requests', resource);
    }),
  );
}

const needsRestartFor = ({ resizePolicy }: Container, resource: string): boolean =>
  resizePolicy?.find(({ resourceName }) => resourceName === resource)?.restartPolicy === 'RestartContainer';

function immutableKey({ requests = {}, limits = {} }: ResourceRequirements): string {
  const withoutMutableAmounts = (list: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(list).filter(([name]) => !isResizable(name)));
  return resourceKey({ requests: withoutMutableAmounts(requests), limits: withoutMutableAmounts(limits) });
}

const hasRemovedAmount = (
  previousAmounts: Readonly<Record<string, string>> = {},
  currentAmounts: Readonly<Record<string, string>> = {},
): boolean =>
  RESIZABLE_RESOURCES.some((name) => Object.hasOwn(previousAmounts, name) && !Object.hasOwn(currentAmounts, name));

/**
 * Converts the refusal of an update to `Deferred` if the update remains pending. This is the case for a resize that is
 * refused for any reason but Infeasible (`SetPodResizePendingCondition` in `pkg/kubelet/status/status_manager.go`), and
 * for any other update that is refused for lack of resources.
 */
export const toPendingRefusal = (refusal: Refusal, isResize: boolean): Refusal =>
  refusal.reason !== 'Infeasible' && (isResize || SHORTAGE_REASONS.includes(refusal.reason))
    ? { ...refusal, reason: 'Deferred', rejectionReason: refusal.reason }
    : refusal;

const SHORTAGE_REASONS: readonly RefusalReason[] = ['OutOfcpu', 'OutOfmemory', 'UnexpectedAdmissionError'];

/** Returns the error in a PodResizeInProgress condition, or undefined if there is none. */
export const resizeErrorOf = ({ reason, message }: PodCondition): string | undefined =>
  reason === 'Error' ? message : undefined;

export const isPendingResize = (refusal: Refusal | undefined): boolean =>
  refusal?.reason === 'Deferred' || refusal?.reason === 'Infeasible';

/** The resources that a resize can change, in the order in which they are applied. */
export const RESIZABLE_RESOURCES = ['memory', 'cpu'] as const;

export type ResizableResource = (typeof RESIZABLE_RESOURCES)[number];

const isResizable = (name: string): boolean => RESIZABLE_RESOURCES.some((resource) => resource === name);

/** Whether two sizes have the same amounts of one resource. */
export const hasSameAmounts = (first: ContainerSize, second: ContainerSize, resource: ResizableResource): boolean =>
  resource === 'cpu' ? hasSameCpu(first, second) : hasSameMemory(first, second);

const hasSameCpu = (first: ContainerSize, second: ContainerSize): boolean =>
  first.cpuRequest === second.cpuRequest && first.cpuLimit === second.cpuLimit;

const hasSameMemory = (first: ContainerSize, second: ContainerSize): boolean =>
  first.memoryLimit === second.memoryLimit &&
  (first.memoryRequest === undefined ||
    second.memoryRequest === undefined ||
    first.memoryRequest === second.memoryRequest);

export const hasSameSize = (current: ContainerSize | undefined, desired: ContainerSize): boolean =>
  current !== undefined && hasSameCpu(current, desired) && hasSameMemory(current, desired);

/**
 * Whether a container must restart to get the resources in its spec, because its resize policy requires a restart for a
 * resource that changes (`computePodResizeAction` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
 */
export function needsRestart(spec: PodSpec, container: Container, size: ContainerSize): boolean {
  const desiredSize = containerSize(spec, container);
  return (
    (!hasSameCpu(size, desiredSize) && needsRestartFor(container, 'cpu')) ||
    (!hasSameMemory(size, desiredSize) && needsRestartFor(container, 'memory'))
  );
}

/**
 * Returns the message of a resize event. It consists of `title` and, as JSON, the pod's resources and the generation of
 * the resize (`podResizeMessage` in `pkg/kubelet/events/resize.go`).
 */
export function resizeMessage(
  title: string,
  pod: Pod,
  { error, generation = pod.metadata.generation ?? 0 }: { readonly error?: string; readonly generation?: number } = {},
): string {
  const summarize = (containers: readonly Container[] = []) =>
    containers.map(({ name, resources = {} }) => ({ name, resources }));
  const { containers, initContainers = [] } = pod.spec;
  const details = {
    ...(initContainers.length > 0 ? { initContainers: summarize(initContainers) } : {}),
    containers: summarize(containers),
    generation,
    ...(error ? { error } : {}),
  };
  return `${title}: ${JSON.stringify(details)}`;
}
