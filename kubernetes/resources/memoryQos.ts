/**
 * Computes the cgroup v2 settings that protect requested memory from reclaim, and that throttle containers before they
 * reach their memory limits (feature gate MemoryQoS; `setMemoryQoS` in `pkg/kubelet/cm/qos_container_manager_linux.go`,
 * `generateLinuxContainerResources` in `pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`).
 */
import type { Container } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { qosClass } from './qos.ts';
import { amountOf, podRequest } from './resources.ts';

/** Node settings and properties that memory QoS depends on. */
export interface MemoryQos {
  /** Fraction of the memory between request and limit above which a container is throttled. */
  readonly throttlingFactor: number;
  /**
   * Whether requested memory is protected, with hard protection for Guaranteed pods and soft protection for Burstable
   * pods.
   */
  readonly isTiered: boolean;
  /**
   * Memory limit in bytes that is assumed for a container without a limit, i.e. the node's memory minus the reserved
   * memory.
   */
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
 * Returns the protection of the cgroup of all pods. It includes Burstable pods, because the effective protection of a
 * cgroup is limited by that of its parent.
 */
export function allPodsMemoryProtection(pods: Iterable<PodSpec>, rules: TierRules): MemoryProtection {
  const memory = protectedMemory(pods, rules);
  return memory === undefined ? {} : { memoryMinBytes: memory.guaranteedBytes + memory.burstableBytes };
}

const sumOfRequests = (pods: readonly PodSpec[]): number =>
  pods.reduce((sum, spec) => sum + podRequest(spec, 'memory'), 0);

/** Returns the values to write to the memory files of a container's cgroup, keyed by file name. */
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
 * Returns the usage in bytes above which a container is throttled. Undefined if the container's request equals its
 * limit, or if the threshold would not exceed the request.
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
