/**
 * Computes the limits of the parent cgroups of containers, i.e. the cgroups of a pod, of a QoS class and of all pods
 * together (C25).
 */

import { lookUp } from '../../base/values/lookUp.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { hugePageSize } from '../api/validation/resources/resourceNames.ts';
import { wholeValue } from '../api/values/quantity.ts';
import { exclusiveCpuCount } from '../cpus/cpuPolicy.ts';
import { cpuQuota, cpuShares } from './cgroup.ts';
import { burstableMemoryProtection, type MemoryQos, podMemoryProtection } from './memoryQos.ts';
import { qosClass } from './qos.ts';
import type { Capacity } from './requests.ts';
import { podLimit, podRequest } from './resources.ts';

/** Limits of a cgroup. A limit that is undefined remains unchanged. */
export interface CgroupLimits {
  readonly cpuShares?: number;
  /** CFS quota and period in microseconds. A quota of -1 means no limit. */
  readonly cpu?: { readonly quota: number; readonly period: number };
  readonly memoryBytes?: number;
  /** Memory in bytes that the kernel never reclaims (`memory.min`). Supported only by cgroup v2. */
  readonly memoryMinBytes?: number;
  /** Memory in bytes that the kernel reclaims last (`memory.low`). Supported only by cgroup v2. */
  readonly memoryLowBytes?: number;
  readonly pids?: number;
  /** Maximum bytes of huge pages, keyed by page size in the kernel's notation, e.g. `2MB`. */
  readonly hugepages?: Readonly<Record<string, number>>;
}

/** Settings of the node and the kernel that apply to all cgroups. */
export interface CgroupRules {
  /** Whether CPU limits are enforced. */
  readonly cfsQuota: boolean;
  /** Whether containers with exclusive CPUs run without a CPU quota. Undefined means false. */
  readonly exclusiveCpus?: boolean;
  /** CFS period in microseconds. */
  readonly cfsPeriod: number;
  /** Maximum number of processes per pod. A value below 1 means no limit. */
  readonly podPids: number;
  /** Huge page sizes that the kernel supports, in its notation. */
  readonly pageSizes: readonly string[];
  /**
   * Settings for memory protection and throttling. Undefined if the kernel does not support them or the configuration
   * does not enable them.
   */
  readonly memoryQos?: MemoryQos;
}

/** Limit in bytes that represents no limit, because no node has that much memory. */
const UNLIMITED_BYTES = 2 ** 62;

/**
 * Returns the limits of a pod's cgroup. CPU or memory is limited only if the pod or each of its containers has such a
 * limit.
 */
export function podCgroupLimits(spec: PodSpec, rules: CgroupRules): CgroupLimits {
  const [cpu, memoryBytes] = [podLimit(spec, 'cpu'), podLimit(spec, 'memory')];
  const isBestEffort = qosClass(spec) === 'BestEffort';
  return {
    cpuShares: cpuShares(isBestEffort ? 0 : podRequest(spec, 'cpu')),
    ...(cpu === undefined || isBestEffort
      ? {}
      : { cpu: hasAnyExclusiveCpus(spec, rules) ? { quota: -1, period: rules.cfsPeriod } : toCfsQuota(cpu, rules) }),
    ...(memoryBytes === undefined || isBestEffort ? {} : { memoryBytes }),
    ...podMemoryProtection(spec, rules),
    ...(rules.podPids > 0 ? { pids: rules.podPids } : {}),
    ...hugepageField(rules, hugepageLimits(spec)),
  };
}

/** Whether a container gets exclusive CPUs, in which case a quota would needlessly throttle it. */
export const hasExclusiveCpus = (spec: PodSpec, container: Container, { exclusiveCpus }: CgroupRules): boolean =>
  exclusiveCpus === true && exclusiveCpuCount(spec, container) > 0;

export const hasAnyExclusiveCpus = (spec: PodSpec, rules: CgroupRules): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some((container) => hasExclusiveCpus(spec, container, rules));

function toCfsQuota(milliCpu: number, { cfsQuota, cfsPeriod: period }: CgroupRules): { quota: number; period: number } {
  return { quota: cfsQuota ? cpuQuota(milliCpu, period) : -1, period };
}

/** Returns a limit for each huge page size that the kernel supports. It is 0 if the pod has no limit for that size. */
function hugepageField(
  { pageSizes }: CgroupRules,
  limits: Readonly<Record<string, number>>,
): Pick<CgroupLimits, 'hugepages'> {
  if (pageSizes.length === 0) return {};
  return { hugepages: Object.fromEntries(pageSizes.map((size) => [size, lookUp(limits, size) ?? 0])) };
}

/**
 * Returns a pod's huge page limits by page size in the kernel's notation. Computes them from the effective requests,
 * because huge page requests always equal the limits (`ResourceConfigForPod` in `pkg/kubelet/cm/helpers_linux.go`).
 */
function hugepageLimits(spec: PodSpec): Record<string, number> {
  const containerRequests = containersOf(spec).map(({ container }) => container.resources?.requests);
  const requestLists = [spec.overhead, spec.resources?.requests, ...containerRequests];
  const bytesBySize = new Map<string, number>();
  for (const resource of new Set(requestLists.flatMap((requests = {}) => Object.keys(requests)))) {
    const size = pageSizeOf(resource);
    if (size !== undefined) bytesBySize.set(size, (bytesBySize.get(size) ?? 0) + podRequest(spec, resource));
  }
  return Object.fromEntries(bytesBySize);
}

/** Returns the huge page limits contained in a ResourceList, keyed by page size in the kernel's notation. */
export function toHugepageLimits(limits: ResourceList): Record<string, number> {
  const entries = Object.entries(limits).flatMap(([resource, amount]) => {
    const size = pageSizeOf(resource);
    return size === undefined ? [] : [[size, wholeValue(amount)] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the page size of a resource in the kernel's notation, e.g. `2MB` for `hugepages-2Mi`. */
function pageSizeOf(resource: string): string | undefined {
  const size = hugePageSize(resource);
  return size === undefined ? undefined : formatPageSize(wholeValue(size));
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Formats a huge page size in the kernel's notation. */
export function formatPageSize(bytes: number): string {
  if (bytes >= GIB) return `${bytes / GIB}GB`;
  return bytes >= MIB ? `${bytes / MIB}MB` : `${bytes / 1024}KB`;
}

/**
 * Returns the resource name for huge pages of this size in bytes, e.g. `hugepages-2Mi` for the size that the CRI calls
 * `2MB`.
 */
export const hugePageResource = (bytes: number): string => `hugepages-${formatPageSize(bytes).replace(/B$/, 'i')}`;

/**
 * Returns the limits of a QoS class. BestEffort pods get only CPU time that no other pod uses, and Burstable pods get
 * CPU time in proportion to their requests.
 */
export function qosCgroupLimits(
  tier: 'burstable' | 'besteffort',
  pods: Iterable<PodSpec>,
  rules: CgroupRules,
): CgroupLimits {
  if (tier === 'besteffort') return { cpuShares: cpuShares(0), ...unlimitedHugepages(rules) };
  const burstablePods = [...pods].filter((spec) => qosClass(spec) === 'Burstable');
  const milliCpu = burstablePods.reduce((sum, spec) => sum + podRequest(spec, 'cpu'), 0);
  return {
    cpuShares: cpuShares(milliCpu),
    ...burstableMemoryProtection(burstablePods, rules),
    ...unlimitedHugepages(rules),
  };
}

/** Returns huge page limits that are effectively unlimited, because huge pages are limited per pod. */
function unlimitedHugepages({ pageSizes }: CgroupRules): Pick<CgroupLimits, 'hugepages'> {
  if (pageSizes.length === 0) return {};
  return { hugepages: Object.fromEntries(pageSizes.map((size) => [size, UNLIMITED_BYTES])) };
}

/** Resource name for the maximum number of processes on a node, as in the kubelet. */
export const PIDS = 'pid';

/** Returns the limits for all pods of the node together. */
export function nodeCgroupLimits({ cpuMillis, memoryBytes, extra }: Capacity, rules: CgroupRules): CgroupLimits {
  const pids = extra?.[PIDS];
  return {
    cpuShares: cpuShares(cpuMillis),
    memoryBytes,
    ...(pids === undefined ? {} : { pids }),
    ...unlimitedHugepages(rules),
  };
}
