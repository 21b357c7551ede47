/**
 * Checks the memory that the configuration reserves on NUMA nodes (`validateReservedMemory` in
 * `pkg/kubelet/cm/memorymanager/memory_manager.go`).
 */
import { quotedText } from '../../base/text/quotedText.ts';
import { formatBinary } from '../eviction/amounts.ts';
import type { MemoryReservation, NumaNodeMemory } from './memoryAssignments.ts';

/** An amount that the node does not offer to pods, in bytes. */
export interface ReservedAmount {
  readonly resource: string;
  readonly bytes: number;
}

/**
 * Throws an error with the kubelet's message unless the reservations of all NUMA nodes add up to `nodeReserved`, i.e.
 * the amounts that are reserved for the system, the agent and eviction, for each kind of memory.
 */
export function checkReservedMemory(
  nodes: readonly NumaNodeMemory[],
  nodeReserved: readonly ReservedAmount[],
  reservations: readonly MemoryReservation[],
): void {
  const missing = reservations.find(({ numaNode }) => !nodes.some(({ id }) => id === numaNode));
  if (missing !== undefined) {
    throw new Error(
      `the reserved memory configuration references a NUMA node ${missing.numaNode} that does not exist on this machine`,
    );
  }
  const resources = new Set([...reservations, ...nodeReserved].map(({ resource }) => resource));
  for (const resource of resources) {
    const [reservedBytes, expectedBytes] = [reservations, nodeReserved].map((amounts) =>
      amounts.filter((each) => each.resource === resource).reduce((sum, { bytes }) => sum + bytes, 0),
    );
    if (reservedBytes === expectedBytes) continue;
    throw new Error(
      `the total amount ${quotedText(formatBinary(reservedBytes ?? 0))} of type ${quotedText(resource)} is not equal to the value ${quotedText(formatBinary(expectedBytes ?? 0))} determined by Node Allocatable feature`,
    );
  }
}
