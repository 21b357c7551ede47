/**
 * Defines the persisted result of a pod's admission, which survives restarts of the agent and failures of the pod's
 * actor.
 */

import { lookUp } from '../../base/values/lookUp.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodView } from '../status/view.ts';
import type { ContainerSize } from './containerSize.ts';
import { type PodResourceRequests, requestsOf } from './requests.ts';
import {
  hasSameResources,
  hasSameSize,
  type PodResources,
  RESIZABLE_RESOURCES,
  resourceKey,
  resourcesOf,
} from './resize.ts';
import { type AmountKind, amountOf, containerSize } from './resources.ts';

export interface Allocation extends PodResourceRequests {
  /** The admitted resources. Undefined if the allocation was persisted by an older agent. */
  readonly resources?: PodResources;
  /** Current resources of the containers by name. Undefined unless a resize is in progress. */
  readonly sizes?: Readonly<Record<string, ContainerSize>>;
}

/**
 * Returns the allocation of an admitted pod. While a resize is in progress, pass the current resources of its
 * containers.
 */
export function allocationOf(pod: Pod, sizes?: Allocation['sizes']): Allocation {
  const { pod: _name, ...requests } = requestsOf(pod);
  return { ...requests, resources: resourcesOf(pod), ...(sizes ? { sizes } : {}) };
}

/**
 * Returns the allocation of a pod with the resources from the checkpoints of a kubelet or of an earlier agent. The
 * checkpointed resources take precedence over the persisted resources.
 */
export function allocationFromCheckpoints(
  persisted: Allocation | undefined,
  { allocated, actuated }: { readonly allocated: PodResources; readonly actuated: PodResources | undefined },
): Allocation {
  const isPersisted = persisted?.resources !== undefined && hasSameResources(persisted.resources, allocated);
  const { sizes: _sizes, ...base }: Allocation = persisted ?? UNKNOWN_REQUESTS;
  const sizes = actuated && !isActuated(allocated, actuated) ? actuatedSizes(actuated) : undefined;
  return {
    ...base,
    ...(isPersisted
      ? {}
      : { cpuMillis: totalRequest(allocated, 'cpu'), memoryBytes: totalRequest(allocated, 'memory') }),
    resources: allocated,
    ...(sizes ? { sizes } : {}),
  };
}

/** Requests of a pod for which only the checkpointed resources are known. */
const UNKNOWN_REQUESTS: PodResourceRequests = {
  cpuMillis: 0,
  memoryBytes: 0,
  hostPorts: [],
  critical: false,
  extra: {},
  priority: null,
  qos: 'Burstable',
};

/**
 * Returns the pod-level request, or else the sum over all containers. The sum may be too large, because a checkpoint
 * does not show which containers are init containers.
 */
function totalRequest({ pod, containers }: PodResources, resource: string): number {
  const podRequest = amountOf(pod, 'requests', resource);
  if (podRequest > 0) return podRequest;
  return Object.values(containers).reduce((sum, each) => sum + amountOf(each, 'requests', resource), 0);
}

/** Whether the containers and the cgroup of a pod have the allocated resources. */
const isActuated = (allocated: PodResources, actuated: PodResources): boolean =>
  resourceKey(allocated.pod ?? {}) === resourceKey(actuated.pod ?? {}) &&
  Object.entries(actuatedSizes(actuated)).every(([name, size]) => {
    const resources = lookUp(allocated.containers, name);
    const podLevel = allocated.pod === undefined ? {} : { resources: allocated.pod };
    return resources === undefined || hasSameSize(size, containerSize(podLevel, { resources }));
  });

const actuatedSizes = ({ containers }: PodResources): Record<string, ContainerSize> =>
  Object.fromEntries(Object.entries(containers).map(([name, resources]) => [name, containerSize({}, { resources })]));

/**
 * Returns the resources that the containers and the cgroup of a pod have. A container without a limit has the limit of
 * its pod (`setActuatedContainerResources` in `pkg/kubelet/kuberuntime/kuberuntime_container.go`). Retains the
 * `previous` resources of containers without a view. Also retains those of the cgroup if a resize is in progress and
 * the applied resources are unknown.
 */
export function actuatedResources(view: PodView, previous?: PodResources): PodResources {
  const { pod, uncertainSpec, isResizing = false, containers, uncertainSizes } = view;
  const { spec } = pod;
  const appliedSpec = uncertainSpec ?? view.appliedSpec;
  const podLevel = appliedSpec ? appliedSpec.resources : isResizing ? previous?.pod : spec.resources;
  const sizes = new Map(containers.map(({ name, size }) => [name, size]));
  const resizableContainers = [...(spec.initContainers ?? []), ...spec.containers];
  const entries = resizableContainers.flatMap((container): [string, ResourceRequirements][] => {
    const { name } = container;
    if (!sizes.has(name)) {
      const previousResources = lookUp(previous?.containers, name);
      return previousResources === undefined ? [] : [[name, previousResources]];
    }
    const size = lookUp(uncertainSizes, name) ?? sizes.get(name);
    if (size === undefined) return [];
    const hasSpecSize = hasSameSize(size, containerSize(spec, container));
    return [[name, hasSpecSize ? withEffectiveLimits(spec, container) : resourcesOfSize(size)]];
  });
  return { ...(podLevel === undefined ? {} : { pod: podLevel }), containers: Object.fromEntries(entries) };
}

/** Returns the resources of a container. Missing limits are replaced by the limits of its pod. */
function withEffectiveLimits(spec: PodSpec, { resources = {} }: Container): ResourceRequirements {
  const inheritedLimits = RESIZABLE_RESOURCES.flatMap((name) => {
    const podLimit = lookUp(spec.resources?.limits, name);
    return podLimit === undefined || amountOf(resources, 'limits', name) > 0 ? [] : [[name, podLimit] as const];
  });
  return inheritedLimits.length === 0
    ? resources
    : { ...resources, limits: { ...resources.limits, ...Object.fromEntries(inheritedLimits) } };
}

/** Returns the resource requirements that correspond to a container's size. */
export function resourcesOfSize({
  cpuRequest,
  cpuLimit,
  memoryRequest = 0,
  memoryLimit,
}: ContainerSize): ResourceRequirements {
  const amounts = (cpuMillis: number, memoryBytes: number) => ({
    ...(cpuMillis > 0 ? { cpu: `${cpuMillis}m` } : {}),
    ...(memoryBytes > 0 ? { memory: `${memoryBytes}` } : {}),
  });
  const lists: Record<AmountKind, Readonly<Record<string, string>>> = {
    limits: amounts(cpuLimit, memoryLimit),
    requests: amounts(cpuRequest, memoryRequest),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => Object.keys(list).length > 0));
}
