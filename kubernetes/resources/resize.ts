/** In-place resize: which changes of a pod's resources a node takes on while its containers run, and in which words. */

import { lookUp } from '../../base/lookUp.ts';
import type { Refusal, RefusalReason } from '../admission/refusal.ts';
import { containersOf } from '../api/containers.ts';
import { parseQuantity } from '../api/quantity.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodCondition } from '../api/schema/status.ts';
import type { ContainerSize } from './containerSize.ts';
import { qosClass } from './qos.ts';
import { amountOf, containerSize } from './resources.ts';
import { maySwap } from './swap.ts';

/** The resources of a pod by container, and the pod's own: what is admitted apart from the rest of its spec. */
export interface PodResources {
  readonly pod?: ResourceRequirements;
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
}

/**
 * Returns the resources of all containers that a resize can change: all but ephemeral ones (`IsResizableContainer` in
 * `pkg/kubelet/allocation/allocation_manager.go`).
 */
export function resourcesOf({ spec }: Pod): PodResources {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  return {
    ...(spec.resources ? { pod: spec.resources } : {}),
    containers: Object.fromEntries(all.map(({ name, resources = {} }) => [name, resources])),
  };
}

/** The pod with these resources; a container that they do not name keeps its own. The same pod when nothing differs. */
export function withResources(pod: Pod, given: PodResources): Pod {
  if (sameResources(resourcesOf(pod), given)) return pod;
  const { resources: _own, ...spec } = pod.spec;
  const sized = (container: Container): Container => {
    const resources = lookUp(given.containers, container.name);
    return resources === undefined ? container : { ...container, resources };
  };
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(sized),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(sized) } : {}),
      ...(given.pod ? { resources: given.pod } : {}),
    },
  };
}

/** Whether both say the same of every container that both have, and of the pod. */
export function sameResources(one: PodResources, other: PodResources): boolean {
  const names = Object.keys(one.containers).filter((name) => Object.hasOwn(other.containers, name));
  const same = (a: ResourceRequirements = {}, b: ResourceRequirements = {}) => keyOf(a) === keyOf(b);
  return (
    same(one.pod, other.pod) &&
    names.every((name) => same(lookUp(one.containers, name), lookUp(other.containers, name)))
  );
}

/** Resources as text that is the same for the same amounts. */
export function keyOf({ requests = {}, limits = {} }: ResourceRequirements): string {
  return [requests, limits]
    .map((list) =>
      Object.keys(list)
        .sort()
        .map((name) => `${name}=${parseQuantity(lookUp(list, name) ?? '') ?? 0n}`)
        .join(),
    )
    .join('/');
}

/** Why a resize can never be admitted, by the label of the metric that counts it. Only the first is a kubelet's. */
const INFEASIBLE = {
  swap_limitation: 'In-place resize of containers with swap is not supported.',
  qos_class_change: 'Pod QOS Class may not change as a result of resizing',
  immutable_resource: 'only cpu and memory resources are mutable',
  limit_removed: 'resource limits cannot be removed',
  request_removed: 'resource requests cannot be removed',
};

const infeasible = (detail: keyof typeof INFEASIBLE): Refusal => ({
  reason: 'Infeasible',
  message: INFEASIBLE[detail],
});

/** The label for the message of an infeasible resize. */
export const infeasibleDetail = (message: string): string =>
  Object.entries(INFEASIBLE).find(([, text]) => text === message)?.[0] ?? 'other';

/**
 * Why the resources of a pod can not become those that are wanted, whatever the node has; undefined when they can. `swaps`
 * says whether the node gives out its swap.
 */
export function resizeRefusal(allocated: Pod, desired: Pod, swaps = false): Refusal | undefined {
  const [from, to] = [resourcesOf(allocated), resourcesOf(desired)];
  if (sameResources(from, to)) return undefined;
  if (qosClass(withResources(allocated, to).spec) !== qosClass(allocated.spec)) {
    return infeasible('qos_class_change');
  }
  const pairs = [
    [from.pod, to.pod],
    ...Object.keys(to.containers).map((name) => [lookUp(from.containers, name), lookUp(to.containers, name)]),
  ];
  for (const [before = {}, after = {}] of pairs) {
    if (rest(before) !== rest(after)) return infeasible('immutable_resource');
    if (hasFewer(before.limits, after.limits)) return infeasible('limit_removed');
    if (hasFewer(before.requests, after.requests)) return infeasible('request_removed');
  }
  return swaps && changesSwap(allocated, withResources(allocated, to)) ? infeasible('swap_limitation') : undefined;
}

/** Whether a container asks for other memory, and its share of the swap would follow while it runs. */
function changesSwap(allocated: Pod, desired: Pod): boolean {
  const before = new Map(containersOf(allocated.spec).map(({ container }) => [container.name, container]));
  return containersOf(desired.spec).some(({ container }) => {
    const known = before.get(container.name);
    if (known === undefined || restartsFor(known, 'memory')) return false;
    const [from, to] = [known, container].map(({ resources }) => amountOf(resources, 'requests', 'memory'));
    return from !== to && (maySwap(allocated, known) || maySwap(desired, container));
  });
}

const restartsFor = ({ resizePolicy }: Container, resource: string): boolean =>
  resizePolicy?.find(({ resourceName }) => resourceName === resource)?.restartPolicy === 'RestartContainer';

const MUTABLE = ['cpu', 'memory'];

function rest({ requests = {}, limits = {} }: ResourceRequirements): string {
  const without = (list: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(list).filter(([name]) => !MUTABLE.includes(name)));
  return keyOf({ requests: without(requests), limits: without(limits) });
}

const hasFewer = (
  before: Readonly<Record<string, string>> = {},
  after: Readonly<Record<string, string>> = {},
): boolean => MUTABLE.some((name) => Object.hasOwn(before, name) && !Object.hasOwn(after, name));

/** A refused update that asks for more than the node has room for, be it for now or as it is: it stays wanted. */
export const pendingResize = (refusal: Refusal): Refusal =>
  NO_ROOM.includes(refusal.reason) ? { ...refusal, reason: 'Deferred', lack: refusal.reason } : refusal;

const NO_ROOM: readonly RefusalReason[] = ['OutOfcpu', 'OutOfmemory', 'UnexpectedAdmissionError'];

/** Returns the error that a condition PodResizeInProgress reports. */
export const resizeErrorOf = ({ reason, message }: PodCondition): string | undefined =>
  reason === 'Error' ? message : undefined;

export const isPendingResize = (refusal: Refusal | undefined): boolean =>
  refusal?.reason === 'Deferred' || refusal?.reason === 'Infeasible';

const hasSameCpu = (one: ContainerSize, other: ContainerSize): boolean =>
  one.cpuRequest === other.cpuRequest && one.cpuLimit === other.cpuLimit;

const hasSameMemory = (one: ContainerSize, other: ContainerSize): boolean =>
  one.memoryLimit === other.memoryLimit &&
  (one.memoryRequest === undefined || other.memoryRequest === undefined || one.memoryRequest === other.memoryRequest);

export const sameSize = (one: ContainerSize | undefined, other: ContainerSize): boolean =>
  one !== undefined && hasSameCpu(one, other) && hasSameMemory(one, other);

/**
 * Whether a container of this size must restart to get the size of its spec, because its resize policy requires a restart
 * for a resource whose request or limit changes (`computePodResizeAction` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
 */
export function needsRestart(spec: PodSpec, container: Container, size: ContainerSize): boolean {
  const wanted = containerSize(spec, container);
  return (
    (!hasSameCpu(size, wanted) && restartsFor(container, 'cpu')) ||
    (!hasSameMemory(size, wanted) && restartsFor(container, 'memory'))
  );
}

/**
 * Returns the message of an event about a resize: `words`, then the resources of the pod as JSON with the generation of the
 * resize (`podResizeMessage` in `pkg/kubelet/events/resize.go`).
 */
export function resizeMessage(
  words: string,
  pod: Pod,
  { error, generation = pod.metadata.generation ?? 0 }: { readonly error?: string; readonly generation?: number } = {},
): string {
  const summary = (containers: readonly Container[] = []) =>
    containers.map(({ name, resources = {} }) => ({ name, resources }));
  const { containers, initContainers = [] } = pod.spec;
  const details = {
    ...(initContainers.length > 0 ? { initContainers: summary(initContainers) } : {}),
    containers: summary(containers),
    generation,
    ...(error ? { error } : {}),
  };
  return `${words}: ${JSON.stringify(details)}`;
}
