/** What of a node its pods may take: its capacity without what is reserved for others. */
import type { Capacity } from './claims.ts';
import { wholeValue } from './quantity.ts';
import { amountOf } from './resources.ts';
import type { ResourceList } from './schema/scalars.ts';

/** What is kept from the pods, as the configuration names it. */
export interface Reserved {
  /** For the node's agent and runtime. */
  readonly kubeReserved: ResourceList;
  /** For the rest of the system. */
  readonly systemReserved: ResourceList;
  /** The free memory below which pods are evicted at once, as a quantity or a percentage; absent: there is no such line. */
  readonly evictionHardMemory?: string;
}

/** What the pods' common cgroup may use: the capacity without what is reserved for the agent and the system. */
export function unreserved(capacity: Capacity, { kubeReserved, systemReserved }: Reserved): Capacity {
  const left = (has: number, resource: string) => {
    const kept = [kubeReserved, systemReserved].map((requests) => amountOf({ requests }, 'requests', resource));
    return Math.max(0, has - kept.reduce((sum, each) => sum + each, 0));
  };
  return {
    ...capacity,
    cpuMillis: left(capacity.cpuMillis, 'cpu'),
    memoryBytes: left(capacity.memoryBytes, 'memory'),
  };
}

/** What is given out at admission: beside what is reserved, the memory below the line of eviction is kept free. */
export function allocatable(capacity: Capacity, reserved: Reserved): Capacity {
  const rest = unreserved(capacity, reserved);
  const kept = thresholdOf(reserved.evictionHardMemory, capacity.memoryBytes);
  return { ...rest, memoryBytes: Math.max(0, rest.memoryBytes - kept) };
}

/** A line of eviction in units of its resource: `100Mi`, or `10%` of all there is. */
export function thresholdOf(text: string | undefined, all: number): number {
  if (text === undefined) return 0;
  return text.endsWith('%') ? Math.trunc((all * Number.parseFloat(text)) / 100) : wholeValue(text);
}
