/** What of a node its pods may take: its capacity without what is reserved for others. */

import { wholeValue } from '../api/quantity.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import type { Capacity } from './requests.ts';
import { amountOf } from './resources.ts';

/** What a node's disk is called among its resources. */
export const DISK = 'ephemeral-storage';

/** What is kept from the pods, as the configuration names it. */
export interface Reserved {
  /** For the node's agent and runtime. */
  readonly kubeReserved: ResourceList;
  /** For the rest of the system. */
  readonly systemReserved: ResourceList;
  /** The free memory below which pods are evicted at once, as a quantity or a percentage; absent: there is no such line. */
  readonly evictionHardMemory?: string;
  /** The same of the disk that pods write to. */
  readonly evictionHardDisk?: string;
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
    ...(capacity.extra ? { extra: mapped(capacity.extra, left) } : {}),
  };
}

const mapped = (amounts: Readonly<Record<string, number>>, to: (amount: number, name: string) => number) =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, to(amount, name)]));

/**
 * The resources that pods may request in all: the capacity without what is reserved, without the memory and disk below the
 * eviction thresholds, and without the memory that huge pages take (`Allocatable` in
 * `pkg/kubelet/nodestatus/setters.go`).
 */
export function allocatable(capacity: Capacity, reserved: Reserved): Capacity {
  const rest = unreserved(capacity, reserved);
  const kept = thresholdOf(reserved.evictionHardMemory, capacity.memoryBytes);
  const disk = thresholdOf(reserved.evictionHardDisk, capacity.extra?.[DISK] ?? 0);
  const extra = rest.extra && mapped(rest.extra, (has, name) => Math.max(0, has - (name === DISK ? disk : 0)));
  const memoryBytes = Math.max(0, Math.max(0, rest.memoryBytes - kept) - hugePageBytes(capacity));
  return { ...rest, memoryBytes, ...(extra ? { extra } : {}) };
}

/** The memory of all preallocated huge pages, which no other memory can use. Pages that are reserved count as well. */
const hugePageBytes = ({ extra = {} }: Capacity): number =>
  Object.entries(extra).reduce((sum, [name, bytes]) => (name.startsWith('hugepages-') ? sum + bytes : sum), 0);

/** A line of eviction in units of its resource: `100Mi`, or `10%` of all there is. To the kubelet `100%` is no line. */
export function thresholdOf(text: string | undefined, all: number): number {
  if (text === undefined || text === '100%') return 0;
  return text.endsWith('%') ? Math.trunc((all * Number.parseFloat(text)) / 100) : wholeValue(text);
}
