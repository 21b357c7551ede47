import { lookUp } from '../base/lookUp.ts';
import type { Container } from '../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../kubernetes/api/schema/pod.ts';
import { cpuQuota, cpuShares, oomScoreAdj } from '../kubernetes/resources/cgroup.ts';
import { hugepages } from '../kubernetes/resources/cgroupLimits.ts';
import { aggregate, amountOf, containerSize } from '../kubernetes/resources/resources.ts';
import { maySwap } from '../kubernetes/resources/swap.ts';
import { LinuxContainerResources } from './generated/runtime.ts';
import type { NodeDescription } from './nodeDescription.ts';

/** A container's cgroup numbers (C25): cpu shares and quota, memory limit in bytes, oom_score_adj, huge pages, swap. */
export function containerResources(pod: Pod, container: Container, node: NodeDescription): LinuxContainerResources {
  const { resources = {} } = container;
  const { cgroups } = node;
  const { cpuRequest, cpuLimit, memoryLimit } = containerSize(pod.spec, container);
  const adjustment = oomScoreAdj(pod.spec, container, node.capacity.memoryBytes);
  // A size that a container does not limit is bound by its pod's own.
  const given = { ...hugepages(pod.spec.resources?.limits ?? {}), ...hugepages(resources.limits ?? {}) };
  const sizes = new Set([...cgroups.pageSizes, ...Object.keys(given)]);
  return LinuxContainerResources.fromPartial({
    ...cpu(cpuRequest, cpuLimit, node),
    memoryLimitInBytes: BigInt(memoryLimit),
    // Where it may not be lowered, a container with less than its parent's would not start.
    oomScoreAdj: BigInt(node.canLowerOomScoreAdj ? adjustment : Math.max(0, adjustment)),
    // Pages of a size that is not asked for are not to be had.
    hugepageLimits: [...sizes].map((pageSize) => ({ pageSize, limit: BigInt(lookUp(given, pageSize) ?? 0) })),
    ...swap(memoryLimit, swapOf(pod, container, node), cgroups),
  });
}

/** How much a container may swap: none, on v1 by a limit of memory with swap that is that of memory, where there is one. */
function swap(memoryLimit: number, swapBytes: number, { version, countsSwap, killsWhole }: NodeDescription['cgroups']) {
  const oom: Record<string, string> = killsWhole ? { 'memory.oom.group': '1' } : {};
  if (!countsSwap) return { unified: oom };
  if (version === 'v1') return { unified: oom, memorySwapLimitInBytes: BigInt(memoryLimit) };
  return { unified: { ...oom, 'memory.swap.max': String(swapBytes) } };
}

/** The bytes that a container may swap under LimitedSwap (C25): of the node's swap what its request is of the memory. */
function swapOf(pod: Pod, container: Container, { cgroups, capacity: { memoryBytes } }: NodeDescription): number {
  const { version, swapBytes = 0 } = cgroups;
  const request = amountOf(container.resources, 'requests', 'memory');
  if (version === 'v1' || !maySwap(pod, container) || request > memoryBytes) return 0;
  return Math.trunc((request / memoryBytes) * swapBytes);
}

/** What the pod's containers have together, for runtimes that size the sandbox by it. */
export function sandboxResources(spec: PodSpec, node: NodeDescription): LinuxContainerResources {
  const amount = (kind: 'requests' | 'limits', resource: string) =>
    lookUp(spec.resources?.[kind], resource) === undefined
      ? aggregate(spec, kind, resource)
      : amountOf(spec.resources, kind, resource);
  return LinuxContainerResources.fromPartial({
    ...cpu(amount('requests', 'cpu'), amount('limits', 'cpu'), node),
    memoryLimitInBytes: BigInt(amount('limits', 'memory')),
  });
}

/** What the sandbox itself takes beside its containers; undefined when the pod names nothing. */
export function sandboxOverhead({ overhead }: PodSpec, node: NodeDescription): LinuxContainerResources | undefined {
  if (overhead === undefined) return undefined;
  const milliCpu = amountOf({ limits: overhead }, 'limits', 'cpu');
  const memoryLimitInBytes = BigInt(amountOf({ limits: overhead }, 'limits', 'memory'));
  return LinuxContainerResources.fromPartial({ ...cpu(milliCpu, milliCpu, node), memoryLimitInBytes });
}

function cpu(requestMilli: number, limitMilli: number, { cgroups: { cfsQuota, cfsPeriod } }: NodeDescription) {
  const cpuSharesOf = { cpuShares: BigInt(cpuShares(requestMilli)) };
  if (!cfsQuota) return cpuSharesOf;
  return { ...cpuSharesOf, cpuQuota: BigInt(cpuQuota(limitMilli, cfsPeriod)), cpuPeriod: BigInt(cfsPeriod) };
}
