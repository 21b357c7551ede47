import { cpuQuota, cpuShares, oomScoreAdj } from '../pod/cgroup.ts';
import { wholeValue } from '../pod/quantity.ts';
import { aggregate, amountOf } from '../pod/resources.ts';
import type { Container, ResourceRequirements } from '../pod/schema/container.ts';
import type { Pod, PodSpec } from '../pod/schema/pod.ts';
import { LinuxContainerResources } from './generated/runtime.ts';
import type { NodeFacts } from './nodeFacts.ts';

/** Microseconds. */
const CFS_PERIOD = 100_000n;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** A container's cgroup numbers (C25): cpu shares and quota, memory limit in bytes, oom_score_adj, huge pages. */
export function containerResources(pod: Pod, container: Container, node: NodeFacts): LinuxContainerResources {
  const { resources } = container;
  const limits = resources?.limits ?? {};
  const adjustment = oomScoreAdj(pod.spec, container, node.memoryCapacityBytes);
  return LinuxContainerResources.fromPartial({
    ...cpu(requestOrLimit(resources), amountOf(resources, 'limits', 'cpu')),
    memoryLimitInBytes: BigInt(amountOf(resources, 'limits', 'memory')),
    // Where it may not be lowered, a container with less than its parent's would not start.
    oomScoreAdj: BigInt(node.canLowerOomScoreAdj ? adjustment : Math.max(0, adjustment)),
    hugepageLimits: Object.entries(limits).flatMap(([resource, amount]) => hugepages(resource, amount)),
  });
}

/** What the pod's containers have together, for runtimes that size the sandbox by it. */
export function sandboxResources(spec: PodSpec): LinuxContainerResources {
  const amount = (kind: 'requests' | 'limits', resource: string) =>
    spec.resources?.[kind]?.[resource] === undefined
      ? aggregate(spec, kind, resource)
      : amountOf(spec.resources, kind, resource);
  return LinuxContainerResources.fromPartial({
    ...cpu(amount('requests', 'cpu'), amount('limits', 'cpu')),
    memoryLimitInBytes: BigInt(amount('limits', 'memory')),
  });
}

/** What the sandbox itself takes beside its containers; undefined when the pod names nothing. */
export function sandboxOverhead({ overhead }: PodSpec): LinuxContainerResources | undefined {
  if (overhead === undefined) return undefined;
  const milliCpu = amountOf({ limits: overhead }, 'limits', 'cpu');
  const memoryLimitInBytes = BigInt(amountOf({ limits: overhead }, 'limits', 'memory'));
  return LinuxContainerResources.fromPartial({ ...cpu(milliCpu, milliCpu), memoryLimitInBytes });
}

/** Millicores asked for; a limit alone asks for all of it. */
function requestOrLimit(resources: ResourceRequirements | undefined): number {
  return amountOf(resources, resources?.requests?.cpu === undefined ? 'limits' : 'requests', 'cpu');
}

function cpu(requestMilli: number, limitMilli: number) {
  return {
    cpuShares: BigInt(cpuShares(requestMilli)),
    cpuQuota: BigInt(cpuQuota(limitMilli)),
    cpuPeriod: CFS_PERIOD,
  };
}

/** `hugepages-2Mi` is a limit on pages that the kernel calls 2MB. */
function hugepages(resource: string, amount: string): { pageSize: string; limit: bigint }[] {
  const [, size] = /^hugepages-(.+)$/.exec(resource) ?? [];
  return size === undefined ? [] : [{ pageSize: pageName(wholeValue(size)), limit: BigInt(wholeValue(amount)) }];
}

function pageName(bytes: number): string {
  if (bytes >= GIB) return `${bytes / GIB}GB`;
  return bytes >= MIB ? `${bytes / MIB}MB` : `${bytes / 1024}KB`;
}
