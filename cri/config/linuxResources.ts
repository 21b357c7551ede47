import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { formatCpuSet } from '../../kubernetes/cpus/cpuSet.ts';
import { cpuQuota, cpuShares, oomScoreAdj } from '../../kubernetes/resources/cgroup.ts';
import { hasAnyExclusiveCpus, hasExclusiveCpus, toHugepageLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import { containerMemoryFiles } from '../../kubernetes/resources/memoryQos.ts';
import { aggregateAmount, amountOf, containerSize } from '../../kubernetes/resources/resources.ts';
import { canUseSwap } from '../../kubernetes/resources/swap.ts';
import { LinuxContainerResources } from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';

/**
 * Returns the cgroup settings of a container (C25): CPU shares and quota, memory limit in bytes, `memory.min` and
 * `memory.high`, oom_score_adj, huge pages and swap.
 */
export function containerResources(pod: Pod, container: Container, node: NodeDescription): LinuxContainerResources {
  const { resources = {} } = container;
  const { cgroups } = node;
  const { cpuRequest, cpuLimit, memoryLimit } = containerSize(pod.spec, container);
  const requestedScoreAdj = oomScoreAdj(pod.spec, container, node.capacity.memoryBytes);
  // For a page size without a container limit, the pod-level limit applies.
  const limitsByPageSize = {
    ...toHugepageLimits(pod.spec.resources?.limits ?? {}),
    ...toHugepageLimits(resources.limits ?? {}),
  };
  const pageSizes = new Set([...cgroups.pageSizes, ...Object.keys(limitsByPageSize)]);
  const swap = swapSettings(memoryLimit, swapLimitBytes(pod, container, node), cgroups);
  const cpus = node.cpusOf?.(pod.metadata.uid, container.name) ?? [];
  const memoryNodes = node.memoryNodesOf?.(pod.metadata.uid, container.name) ?? [];
  return LinuxContainerResources.fromPartial({
    ...cpuSettings(cpuRequest, hasExclusiveCpus(pod.spec, container, cgroups) ? undefined : cpuLimit, node),
    cpusetCpus: formatCpuSet(cpus),
    cpusetMems: memoryNodes.join(','),
    memoryLimitInBytes: BigInt(memoryLimit),
    // Without permission to lower oom_score_adj, a container with a lower value than its parent process would not
    // start.
    oomScoreAdj: BigInt(node.canLowerOomScoreAdj ? requestedScoreAdj : Math.max(0, requestedScoreAdj)),
    // Page sizes without a limit get the limit 0.
    hugepageLimits: [...pageSizes].map((pageSize) => ({
      pageSize,
      limit: BigInt(lookUp(limitsByPageSize, pageSize) ?? 0),
    })),
    ...swap,
    unified: { ...swap.unified, ...containerMemoryFiles(pod.spec, container, cgroups) },
  });
}

/**
 * Returns the swap limits of a container. On cgroup v1, memory plus swap is limited to the memory limit, so the
 * container cannot swap.
 */
function swapSettings(
  memoryLimit: number,
  swapBytes: number,
  { version, countsSwap, killsWhole }: NodeDescription['cgroups'],
) {
  const oomSettings: Record<string, string> = killsWhole ? { 'memory.oom.group': '1' } : {};
  if (!countsSwap) return { unified: oomSettings };
  if (version === 'v1') return { unified: oomSettings, memorySwapLimitInBytes: BigInt(memoryLimit) };
  return { unified: { ...oomSettings, 'memory.swap.max': String(swapBytes) } };
}

/**
 * Returns the number of bytes that a container may swap under LimitedSwap (C25). The container's share of the node's
 * swap equals its share of the node's memory.
 */
function swapLimitBytes(
  pod: Pod,
  container: Container,
  { cgroups, capacity: { memoryBytes } }: NodeDescription,
): number {
  const { version, swapBytes = 0 } = cgroups;
  const request = amountOf(container.resources, 'requests', 'memory');
  if (version === 'v1' || !canUseSwap(pod, container) || request > memoryBytes) return 0;
  return Math.trunc((request / memoryBytes) * swapBytes);
}

/** Returns the total resources of the pod's containers, which some runtimes use to size the sandbox. */
export function sandboxResources(spec: PodSpec, node: NodeDescription): LinuxContainerResources {
  const { cpuRequest, cpuLimit, memoryLimit } = resourceTotalsOf(spec);
  const limit = hasAnyExclusiveCpus(spec, node.cgroups) ? undefined : cpuLimit;
  return LinuxContainerResources.fromPartial({
    ...cpuSettings(cpuRequest, limit, node),
    memoryLimitInBytes: BigInt(memoryLimit),
  });
}

/** Computes the totals once per spec, because the configuration of each container contains them. */
const resourceTotalsOf = memoize((spec: PodSpec) => {
  const totalAmount = (kind: 'requests' | 'limits', resource: string) =>
    lookUp(spec.resources?.[kind], resource) === undefined
      ? aggregateAmount(spec, kind, resource)
      : amountOf(spec.resources, kind, resource);
  return {
    cpuRequest: totalAmount('requests', 'cpu'),
    cpuLimit: totalAmount('limits', 'cpu'),
    memoryLimit: totalAmount('limits', 'memory'),
  };
});

/** Returns the overhead of the sandbox, or undefined if the pod specifies none. */
export function sandboxOverhead({ overhead }: PodSpec, node: NodeDescription): LinuxContainerResources | undefined {
  if (overhead === undefined) return undefined;
  const milliCpu = amountOf({ limits: overhead }, 'limits', 'cpu');
  const memoryLimitInBytes = BigInt(amountOf({ limits: overhead }, 'limits', 'memory'));
  return LinuxContainerResources.fromPartial({ ...cpuSettings(milliCpu, milliCpu, node), memoryLimitInBytes });
}

/**
 * Returns the CPU shares for a request and the CPU quota for a limit, both in millicores. Without a limit, the quota is
 * unlimited.
 */
function cpuSettings(
  requestMilli: number,
  limitMilli: number | undefined,
  { cgroups: { cfsQuota, cfsPeriod } }: NodeDescription,
) {
  const shareSettings = { cpuShares: BigInt(cpuShares(requestMilli)) };
  if (!cfsQuota) return shareSettings;
  return {
    ...shareSettings,
    cpuQuota: BigInt(limitMilli === undefined ? -1 : cpuQuota(limitMilli, cfsPeriod)),
    cpuPeriod: BigInt(cfsPeriod),
  };
}
