/**
 * Computes how cgroup v2 protects memory that pods request and throttles containers before they reach their limits
 * (feature gate MemoryQoS; `setMemoryQoS` in `pkg/kubelet/cm/qos_container_manager_linux.go`,
 * `generateLinuxContainerResources` in `pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`).
 */
import type { Container } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { qosClass } from './qos.ts';
import { amountOf, podRequest } from './resources.ts';

/** Settings and properties of the node on which memory QoS depends. */
export interface MemoryQos {
  /** Fraction of the memory between request and limit above which a container is throttled. */
  readonly throttlingFactor: number;
  /** Whether requested memory is protected: hard for Guaranteed pods, soft for Burstable pods. */
  readonly isTiered: boolean;
  /** The limit of a container without one: the memory of the node in bytes without the reserved memory. */
  readonly unreservedBytes: number;
  /** The kernel's page size in bytes. */
  readonly pageBytes: number;
}

interface MemoryQosRules {
  readonly memoryQos?: MemoryQos;
}

interface TierRules {
  readonly memoryQos?: Pick<MemoryQos, 'isTiered'> | undefined;
}

/** Memory that the kernel does not reclaim, or reclaims last. */
interface MemoryProtection {
  readonly memoryMinBytes?: number;
  readonly memoryLowBytes?: number;
}

/** Returns the protection of a pod's cgroup. It is empty unless the pod requests memory. */
export function podMemoryProtection(spec: PodSpec, { memoryQos }: MemoryQosRules): MemoryProtection {
  const requestBytes = memoryQos?.isTiered ? podRequest(spec, 'memory') : 0;
  if (requestBytes === 0) return {};
  return qosClass(spec) === 'Guaranteed' ? { memoryMinBytes: requestBytes } : { memoryLowBytes: requestBytes };
}

/**
 * Returns the protection of the cgroup of the Burstable class. If tiered protection is off, returns values that reset
 * any earlier protection.
 */
export function burstableMemoryProtection(
  burstablePods: readonly PodSpec[],
  { memoryQos }: MemoryQosRules,
): MemoryProtection {
  if (memoryQos === undefined) return {};
  return { memoryLowBytes: memoryQos.isTiered ? sumOfRequests(burstablePods) : 0 };
}

/** The memory that the pods of the protected classes request, in bytes. */
export interface ProtectedMemory {
  readonly guaranteedBytes: number;
  readonly burstableBytes: number;
}

/** Returns the protected memory of the node. Undefined if the feature is off. */
export function protectedMemory(pods: Iterable<PodSpec>, { memoryQos }: TierRules): ProtectedMemory | undefined {
  if (memoryQos === undefined) return undefined;
  if (!memoryQos.isTiered) return { guaranteedBytes: 0, burstableBytes: 0 };
  const podsByClass = Map.groupBy(pods, qosClass);
  return {
    guaranteedBytes: sumOfRequests(podsByClass.get('Guaranteed') ?? []),
    burstableBytes: sumOfRequests(podsByClass.get('Burstable') ?? []),
  };
}

/**
 * Returns the protection of the cgroup of all pods. It includes Burstable pods, because the protection of a cgroup is
 * effective only as far as its parent is protected.
 */
export function allPodsMemoryProtection(pods: Iterable<PodSpec>, rules: TierRules): MemoryProtection {
  const memory = protectedMemory(pods, rules);
  return memory === undefined ? {} : { memoryMinBytes: memory.guaranteedBytes + memory.burstableBytes };
}

const sumOfRequests = (pods: readonly PodSpec[]): number =>
  pods.reduce((sum, spec) => sum + podRequest(spec, 'memory'), 0);

/** Returns the files of a container's cgroup, by name. */
export function containerMemoryFiles(
  spec: PodSpec,
  { resources }: Container,
  { memoryQos }: MemoryQosRules,
): Record<string, string> {
  if (memoryQos === undefined) return {};
  const request = amountOf(resources, 'requests', 'memory');
  const limit = amountOf(resources, 'limits', 'memory');
  const isProtected = memoryQos.isTiered && request > 0;
  const protectedFile = qosClass(spec) === 'Guaranteed' ? 'memory.min' : 'memory.low';
  const protection = isProtected ? { [protectedFile]: String(request) } : { 'memory.min': '0', 'memory.low': '0' };
  const throttledBytes = throttlingThreshold(request, limit, memoryQos);
  return throttledBytes === undefined ? protection : { ...protection, 'memory.high': String(throttledBytes) };
}

/**
 * Returns the usage in bytes above which a container is throttled. Undefined if its request equals its limit, or if the
 * threshold would not exceed the request.
 */
function throttlingThreshold(
  request: number,
  limit: number,
  { throttlingFactor, unreservedBytes, pageBytes }: MemoryQos,
): number | undefined {
  if (request === limit) return undefined;
  const upperBound = limit === 0 ? unreservedBytes : limit;
  const threshold = request + (upperBound - request) * throttlingFactor;
  const bytes = Math.floor(threshold / pageBytes) * pageBytes;
  return bytes > request ? bytes : undefined;
}
