import { canonicalOr, isSameIp } from '../../base/ipAddress.ts';
import { lookUp } from '../../base/lookUp.ts';
import { type HostPort, portCause, type Refusal, type Shortage, shortageCause } from '../admission/refusal.ts';
import { containersOf } from '../api/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import { isCriticalPod } from '../api/staticPod.ts';
import { shownName } from '../shownName.ts';
import { isAllocatedAsDevice } from './devices.ts';
import { type QosClass, qosClass } from './qos.ts';
import { podRequest } from './resources.ts';

/** The resources of the node that a pod requests, and how the pod ranks if there are too few for all pods. */
export interface PodResourceRequests {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Whole units of what else it requests: ephemeral storage, hugepages, extended resources. */
  readonly extra: Readonly<Record<string, number>>;
  readonly hostPorts: readonly HostPort[];
  /** It goes before others: they may have to end for it (C24). */
  readonly critical: boolean;
  /** Null where nobody has set one. */
  readonly priority: number | null;
  readonly qos: QosClass;
}

export interface PodRequests extends PodResourceRequests {
  /** The name of the pod in messages about what it holds. */
  readonly pod: string;
}

/** What a node has for its pods. */
export interface Capacity {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly pods: number;
  /** Whole units of what else it has, by resource; absent: nothing. */
  readonly extra?: Readonly<Record<string, number>>;
}

const DISK = 'ephemeral-storage';

/** What a pod asks of the node: effective requests and host ports. */
export function requestsOf(pod: Pod): PodRequests {
  return {
    cpuMillis: podRequest(pod.spec, 'cpu'),
    memoryBytes: podRequest(pod.spec, 'memory'),
    extra: extraOf(pod),
    hostPorts: hostPortsOf(pod),
    critical: isCriticalPod(pod),
    priority: pod.spec.priority ?? null,
    qos: qosClass(pod.spec),
    pod: shownName(pod.metadata),
  };
}

/** Whatever a node can run short of but cpu and memory; other names mean nothing to it. */
const isExtra = (resource: string): boolean =>
  resource === DISK || resource.startsWith('hugepages-') || resource.includes('/');

/** Whether a resource is an extended one, such as `example.com/gpu`, and not one of Kubernetes itself. */
export const isExtended = (resource: string): boolean =>
  resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.');

function extraOf(pod: Pod): Record<string, number> {
  const { spec } = pod;
  const lists = [
    ...containersOf(spec).map(({ container }) => container.resources?.requests),
    spec.resources?.requests,
    spec.overhead,
  ];
  const named = lists.flatMap((list = {}) => Object.keys(list)).filter(isExtra);
  const names = new Set(named.filter((name) => !isAllocatedAsDevice(pod, name)));
  const amounts = [...names].sort().map((name) => [name, podRequest(spec, name)] as const);
  return Object.fromEntries(amounts.filter(([, amount]) => amount > 0));
}

export function hostPortsOf(pod: Pod): HostPort[] {
  return containersOf(pod.spec)
    .filter(({ role }) => role === 'regular' || role === 'sidecar')
    .flatMap(({ container }) => container.ports ?? [])
    .flatMap(({ hostPort, protocol = 'TCP', hostIP = '' }) =>
      hostPort ? [{ port: hostPort, protocol, hostIp: canonicalHostIp(hostIP) }] : [],
    );
}

/** An empty address and 0.0.0.0 both stand for all addresses (`HostPortInfo` in `kube-scheduler/framework/types.go`). */
const canonicalHostIp = (hostIp: string): string => (isSameIp(hostIp, '0.0.0.0') ? '' : canonicalOr(hostIp));

/** Whether the node has room for a pod beside the others: undefined if so, else the kubelet's reason and message. */
export function conflicts(
  requests: PodRequests,
  others: readonly PodRequests[],
  capacity: Capacity,
): Refusal | undefined {
  const [short] = shortages(requests, others, capacity);
  return short === undefined ? portConflict(requests, others) : refusalFor(short);
}

/**
 * The resources of which there is not enough for a pod beside the others. An extended resource that the node does not have
 * at all counts as well. A kubelet ignores it (`removeMissingExtendedResources` in `pkg/kubelet/lifecycle/predicate.go`) and
 * runs the pod without its devices.
 */
export function shortages(requests: PodRequests, others: readonly PodRequests[], capacity: Capacity): Shortage[] {
  const scalars = Object.keys(requests.extra).filter((name) => name !== DISK);
  return ['pods', 'cpu', 'memory', DISK, ...scalars].flatMap((resource) => {
    const requested = amountRequested(requests, resource);
    // What it asks nothing of it is not short of: the others need not be counted.
    if (requested <= 0) return [];
    const used = others.reduce((sum, each) => sum + amountRequested(each, resource), 0);
    const has = capacityOf(capacity, resource);
    if (requested <= has - used) return [];
    return [{ resource, requested, used, capacity: has, holders: holdersOf(resource, others) }];
  });
}

/** Returns how much of a resource each of the pods holds, largest amount first. */
function holdersOf(resource: string, pods: readonly PodRequests[]): Shortage['holders'] {
  return pods
    .map((each) => ({ pod: each.pod, amount: amountRequested(each, resource) }))
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => other.amount - one.amount);
}

/** How much of a resource is requested, in the unit of a `Shortage`. */
export function amountRequested(
  { cpuMillis, memoryBytes, extra }: Pick<PodRequests, 'cpuMillis' | 'memoryBytes' | 'extra'>,
  resource: string,
): number {
  // Asked of every pod for every decision.
  if (resource === 'pods') return 1;
  if (resource === 'cpu') return cpuMillis;
  return resource === 'memory' ? memoryBytes : (lookUp(extra, resource) ?? 0);
}

/** How much of a resource the node has. */
const capacityOf = ({ pods, extra = {}, ...rest }: Capacity, resource: string): number =>
  resource === 'pods' ? pods : amountRequested({ ...rest, extra }, resource);

/** A shortage as the status of a refused pod tells it. */
export function refusalFor(shortage: Shortage): Refusal {
  const { resource, requested, used, capacity } = shortage;
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, ${amounts}`,
    cause: shortageCause(shortage),
  };
}

/** Whether a port of the host that a pod wants is taken. */
export function portConflict(requests: PodRequests, others: readonly PodRequests[]): Refusal | undefined {
  const clashes = requests.hostPorts.flatMap((wanted) => {
    const holder = others.find(({ hostPorts }) => hostPorts.some((each) => samePort(wanted, each)));
    return holder ? [portCause(wanted, holder)] : [];
  });
  const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  const [cause] = clashes;
  return cause === undefined ? undefined : { reason: 'NodePorts', message, cause };
}

/** Whether two containers cannot listen on their ports at the same time. An empty address stands for all addresses. */
export function samePort(one: HostPort, other: HostPort): boolean {
  const addressesMeet = one.hostIp === '' || other.hostIp === '' || isSameIp(one.hostIp, other.hostIp);
  return one.port === other.port && one.protocol === other.protocol && addressesMeet;
}
