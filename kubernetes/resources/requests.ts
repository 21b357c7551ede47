import { canonicalIpOrText, isSameIp } from '../../base/ipAddress.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import { type HostPort, portCause, type Refusal, type Shortage, shortageCause } from '../admission/refusal.ts';
import { containersOf } from '../api/pods/containers.ts';
import { isCriticalPod } from '../api/pods/staticPod.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { isHugePages } from '../api/validation/resources/resourceNames.ts';
import { displayName } from '../shownName.ts';
import { isAllocatedAsDevice } from './devices.ts';
import { type QosClass, qosClass } from './qos.ts';
import { podRequest } from './resources.ts';

/**
 * Node resources that a pod requests, and the properties that rank the pod if the node does not have enough for all
 * pods.
 */
export interface PodResourceRequests {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Requested amounts of ephemeral storage, huge pages and extended resources in whole units, by name. */
  readonly extra: Readonly<Record<string, number>>;
  readonly hostPorts: readonly HostPort[];
  /** Whether the pod may preempt others (C24). */
  readonly critical: boolean;
  /** Priority of the pod. Null if none is set. */
  readonly priority: number | null;
  readonly qos: QosClass;
}

export interface PodRequests extends PodResourceRequests {
  /** Name of the pod in messages about its use of resources. */
  readonly pod: string;
}

/** Amounts of the node's resources that are available to pods. */
export interface Capacity {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly pods: number;
  /** Other resources in whole units, by name. Undefined if there are none. */
  readonly extra?: Readonly<Record<string, number>>;
}

const EPHEMERAL_STORAGE = 'ephemeral-storage';

/** Returns the effective requests and host ports of a pod. */
export function requestsOf(pod: Pod): PodRequests {
  return {
    ...requestsInSpec(pod.spec),
    extra: otherRequests(pod),
    critical: isCriticalPod(pod),
    pod: displayName(pod.metadata),
  };
}

const requestsInSpec = memoize((spec: PodSpec) => ({
  cpuMillis: podRequest(spec, 'cpu'),
  memoryBytes: podRequest(spec, 'memory'),
  hostPorts: hostPortsOf(spec),
  priority: spec.priority ?? null,
  qos: qosClass(spec),
}));

/** Whether the node tracks a resource in `extra`. A request for any other resource has no effect. */
const isTrackedResource = (resource: string): boolean =>
  resource === EPHEMERAL_STORAGE || isHugePages(resource) || resource.includes('/');

/** Whether a resource, e.g. `example.com/gpu`, is an extended resource rather than one that is native to Kubernetes. */
export const isExtendedResource = (resource: string): boolean =>
  resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.');

/** Whether a container requests an extended resource, which a device plugin may provide. */
export const requestsDevices = ({ resources }: Pick<Container, 'resources'>): boolean =>
  Object.keys(resources?.limits ?? {}).some(isExtendedResource);

function otherRequests(pod: Pod): Record<string, number> {
  const { spec } = pod;
  const resourceLists = [
    ...containersOf(spec).map(({ container }) => container.resources?.requests),
    spec.resources?.requests,
    spec.overhead,
  ];
  const requestedNames = resourceLists.flatMap((list = {}) => Object.keys(list)).filter(isTrackedResource);
  const names = new Set(requestedNames.filter((name) => !isAllocatedAsDevice(pod, name)));
  const amounts = [...names].sort().map((name) => [name, podRequest(spec, name)] as const);
  return Object.fromEntries(amounts.filter(([, amount]) => amount > 0));
}

export function hostPortsOf(spec: PodSpec): HostPort[] {
  return containersOf(spec)
    .filter(({ role }) => role === 'regular' || role === 'sidecar')
    .flatMap(({ container }) => container.ports ?? [])
    .flatMap(({ hostPort, protocol = 'TCP', hostIP = '' }) =>
      hostPort ? [{ port: hostPort, protocol, hostIp: canonicalHostIp(hostIP) }] : [],
    );
}

/**
 * Returns the canonical form of an address. It is empty for an empty address and for 0.0.0.0, both of which mean all
 * addresses (`HostPortInfo` in `kube-scheduler/framework/types.go`).
 */
const canonicalHostIp = (hostIp: string): string => (isSameIp(hostIp, '0.0.0.0') ? '' : canonicalIpOrText(hostIp));

/**
 * Returns a refusal with the kubelet's reason and message if the node does not have enough resources for the pod in
 * addition to the other pods. Otherwise returns undefined.
 */
export function resourceConflict(
  requests: PodRequests,
  otherRequests: readonly PodRequests[],
  capacity: Capacity,
): Refusal | undefined {
  const [shortage] = shortages(requests, otherRequests, capacity);
  return shortage === undefined ? portConflict(requests, otherRequests) : refusalFor(shortage);
}

/**
 * Returns the resources that are not sufficient for a pod in addition to the other pods. Includes an extended resource
 * that the node does not have at all, although the kubelet ignores it (`removeMissingExtendedResources` in
 * `pkg/kubelet/lifecycle/predicate.go`) and runs the pod without its devices.
 */
export function shortages(
  requests: PodRequests,
  otherRequests: readonly PodRequests[],
  capacity: Capacity,
): Shortage[] {
  const scalarNames = Object.keys(requests.extra).filter((name) => name !== EPHEMERAL_STORAGE);
  return ['pods', 'cpu', 'memory', EPHEMERAL_STORAGE, ...scalarNames].flatMap((resource) => {
    const requestedAmount = amountRequested(requests, resource);
    // Skip summing over the other pods if this pod does not request the resource.
    if (requestedAmount <= 0) return [];
    const usedAmount = otherRequests.reduce((sum, each) => sum + amountRequested(each, resource), 0);
    const nodeCapacity = capacityOf(capacity, resource);
    if (requestedAmount <= nodeCapacity - usedAmount) return [];
    return [
      {
        resource,
        requestedAmount,
        usedAmount,
        capacity: nodeCapacity,
        holders: holdersOf(resource, otherRequests),
      },
    ];
  });
}

/** Returns the pods that use a resource, each with the amount that it uses, in descending order of amount. */
function holdersOf(resource: string, pods: readonly PodRequests[]): Shortage['holders'] {
  return pods
    .map((each) => ({ pod: each.pod, amount: amountRequested(each, resource) }))
    .filter(({ amount }) => amount > 0)
    .sort((first, second) => second.amount - first.amount);
}

/** Returns the amount of a resource that a pod requests, in the unit of a `Shortage`. */
export function amountRequested(
  { cpuMillis, memoryBytes, extra }: Pick<PodRequests, 'cpuMillis' | 'memoryBytes' | 'extra'>,
  resource: string,
): number {
  // Hot path: every admission decision calls this function for every pod.
  if (resource === 'pods') return 1;
  if (resource === 'cpu') return cpuMillis;
  return resource === 'memory' ? memoryBytes : (lookUp(extra, resource) ?? 0);
}

const capacityOf = ({ pods, extra = {}, ...rest }: Capacity, resource: string): number =>
  resource === 'pods' ? pods : amountRequested({ ...rest, extra }, resource);

/** Returns the refusal that the status of a pod reports for a shortage. */
export function refusalFor(shortage: Shortage): Refusal {
  const { resource, requestedAmount, usedAmount, capacity } = shortage;
  const amounts = `requested: ${requestedAmount}, used: ${usedAmount}, capacity: ${capacity}`;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, ${amounts}`,
    cause: shortageCause(shortage),
  };
}

/** Returns a refusal if another pod uses a host port that the pod requests. */
export function portConflict(requests: PodRequests, otherRequests: readonly PodRequests[]): Refusal | undefined {
  const conflicts = requests.hostPorts.flatMap((requestedPort) => {
    const holder = otherRequests.find(({ hostPorts }) => hostPorts.some((each) => isPortConflict(requestedPort, each)));
    return holder ? [portCause(requestedPort, holder)] : [];
  });
  const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  const [cause] = conflicts;
  return cause === undefined ? undefined : { reason: 'NodePorts', message, cause };
}

/** Whether two host ports conflict. An empty address means all addresses of the node. */
export function isPortConflict(first: HostPort, second: HostPort): boolean {
  const overlapsAddress = first.hostIp === '' || second.hostIp === '' || isSameIp(first.hostIp, second.hostIp);
  return first.port === second.port && first.protocol === second.protocol && overlapsAddress;
}
