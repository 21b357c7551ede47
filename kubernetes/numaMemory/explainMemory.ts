/** Describes the memory of NUMA nodes and of containers. */

import { containersOf } from '../api/pods/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import { formatCpuSet } from '../cpus/cpuSet.ts';
import { formatBinary } from '../eviction/amounts.ts';
import { qosClass } from '../resources/qos.ts';
import {
  findMemory,
  type MemoryAssignment,
  type MemoryAssignments,
  type MemoryBlock,
  type MemoryNode,
} from './memoryAssignments.ts';

/** Formats the memory of a node, e.g. `NUMA node 0: memory 4Gi of 7Gi free, hugepages-2Mi 0 of 1Gi free`. */
export function describeMemoryNode({ id, group, tables }: MemoryNode): string {
  const amounts = tables.map(
    ({ resource, free, allocatable }) => `${resource} ${formatBinary(free)} of ${formatBinary(allocatable)} free`,
  );
  const partners = group.length > 1 ? `, in one group with the nodes ${formatCpuSet(group)}` : '';
  return `NUMA node ${id}: ${amounts.join(', ')}${partners}`;
}

/** Formats the blocks of a container, e.g. `memory 1Gi on NUMA node 0 for default/web, container app`. */
export const describeMemoryOf = ({ pod, podUid, container, blocks }: MemoryAssignment): string[] =>
  blocks.map((block) => `${describeBlock(block)} for ${pod ?? `pod ${podUid}`}, container ${container}`);

const describeBlock = ({ resource, bytes, numaNodes }: MemoryBlock): string =>
  `${resource} ${formatBinary(bytes)} on NUMA ${numaNodes.length === 1 ? 'node' : 'nodes'} ${formatCpuSet(numaNodes)}`;

/**
 * Explains which memory each container uses and why, by container name, e.g. `memory 1Gi on NUMA node 0 (Guaranteed)`.
 */
export function explainMemory(assignments: MemoryAssignments, pod: Pod): ReadonlyMap<string, string> {
  const { spec, metadata } = pod;
  return new Map(
    containersOf(spec).map(({ container }) => {
      const { blocks = [] } = findMemory(assignments, metadata.uid, container.name) ?? {};
      const memory = blocks.length === 0 ? 'memory of any NUMA node' : blocks.map(describeBlock).join(', ');
      return [container.name, `${memory} (${reasonFor(pod, blocks)})`];
    }),
  );
}

function reasonFor({ spec }: Pod, blocks: readonly MemoryBlock[]): string {
  const qos = qosClass(spec);
  if (qos !== 'Guaranteed' || blocks.length > 0) return qos;
  return spec.resources === undefined ? 'its init containers have completed' : 'its pod has resources of its own';
}
