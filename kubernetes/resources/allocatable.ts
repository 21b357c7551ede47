/** Computes the allocatable resources of a node, i.e. its capacity minus the reserved resources. */

import type { ResourceList } from '../api/schema/scalars.ts';
import { isHugePages } from '../api/validation/resources/resourceNames.ts';
import { formatQuantity } from '../api/values/quantity.ts';
import { formatBinary } from '../eviction/amounts.ts';
import { thresholdAmount } from '../eviction/thresholds.ts';
import type { Capacity } from './requests.ts';
import { amountOf } from './resources.ts';

const NANOS_PER_MILLI = 1_000_000n;

/** Resource name of the node's disk. */
export const EPHEMERAL_STORAGE = 'ephemeral-storage';

/** Resources that the configuration reserves, so that pods cannot use them. */
export interface ReservedResources {
  /** Amounts reserved for the agent and the runtime. */
  readonly kubeReserved: ResourceList;
  /** Amounts reserved for the rest of the system. */
  readonly systemReserved: ResourceList;
  /**
   * Eviction threshold, i.e. the amount of free memory below which pods are evicted immediately, as a quantity or a
   * percentage. Undefined if there is none.
   */
  readonly evictionHardMemory?: string;
  /** Eviction threshold of the disk that pods write to, in the same format as `evictionHardMemory`. */
  readonly evictionHardDisk?: string;
}

/**
 * Returns the resource limits of the cgroup that contains all pods. They are the capacity minus the amounts that are
 * reserved for the agent and the system.
 */
export function subtractReserved(capacity: Capacity, reserved: ReservedResources): Capacity {
  const unreservedAmount = (capacityAmount: number, resource: string) =>
    Math.max(0, capacityAmount - reservedAmount(resource, reserved));
  return {
    ...capacity,
    cpuMillis: unreservedAmount(capacity.cpuMillis, 'cpu'),
    memoryBytes: unreservedAmount(capacity.memoryBytes, 'memory'),
    ...(capacity.extra ? { extra: mapAmounts(capacity.extra, unreservedAmount) } : {}),
  };
}

const mapAmounts = (amounts: Readonly<Record<string, number>>, convert: (amount: number, name: string) => number) =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, convert(amount, name)]));

/**
 * Returns the resources that all pods together may request. These are the capacity minus the reserved resources, the
 * eviction thresholds of memory and disk, and the memory of huge pages (`Allocatable` in
 * `pkg/kubelet/nodestatus/setters.go`).
 */
export function allocatableResources(capacity: Capacity, reserved: ReservedResources): Capacity {
  const unreservedCapacity = subtractReserved(capacity, reserved);
  const memoryThreshold = evictionThreshold(reserved.evictionHardMemory, capacity.memoryBytes);
  const diskThreshold = evictionThreshold(reserved.evictionHardDisk, capacity.extra?.[EPHEMERAL_STORAGE] ?? 0);
  const otherResources =
    unreservedCapacity.extra &&
    mapAmounts(unreservedCapacity.extra, (amount, name) =>
      Math.max(0, amount - (name === EPHEMERAL_STORAGE ? diskThreshold : 0)),
    );
  const memoryBytes = Math.max(
    0,
    Math.max(0, unreservedCapacity.memoryBytes - memoryThreshold) - hugePageBytes(capacity),
  );
  return { ...unreservedCapacity, memoryBytes, ...(otherResources ? { extra: otherResources } : {}) };
}

/**
 * Returns the kubelet's message if more of a resource is reserved than the node has, or undefined if the reservations
 * fit (`validateNodeAllocatable` in `pkg/kubelet/cm/node_container_manager_linux.go`). Processes are not checked,
 * because they are not part of the capacity that the kubelet reports.
 */
export function describeExcessiveReservation(capacity: Capacity, reserved: ReservedResources): string | undefined {
  const diskBytes = capacity.extra?.[EPHEMERAL_STORAGE];
  const problems = [
    describeExcess('cpu', capacity.cpuMillis, reservedAmount('cpu', reserved)),
    describeExcess(
      'memory',
      capacity.memoryBytes,
      reservedAmount('memory', reserved) + evictionThreshold(reserved.evictionHardMemory, capacity.memoryBytes),
    ),
    ...(diskBytes === undefined
      ? []
      : [
          describeExcess(
            EPHEMERAL_STORAGE,
            diskBytes,
            reservedAmount(EPHEMERAL_STORAGE, reserved) + evictionThreshold(reserved.evictionHardDisk, diskBytes),
          ),
        ]),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : `invalid Node Allocatable configuration. ${problems.join(' ')}`;
}

function describeExcess(resource: string, capacityAmount: number, reservation: number): string | undefined {
  if (reservation <= capacityAmount) return undefined;
  const [reservationText, capacityText] = [reservation, capacityAmount].map((amount) =>
    resource === 'cpu' ? formatQuantity(BigInt(amount) * NANOS_PER_MILLI) : formatBinary(amount),
  );
  return `Resource "${resource}" has a reservation of ${reservationText} but capacity of ${capacityText}. Expected capacity >= reservation.`;
}

/** Returns the amount of a resource that is reserved for the agent and the system, in the unit of `amountOf`. */
const reservedAmount = (resource: string, { kubeReserved, systemReserved }: ReservedResources): number =>
  [kubeReserved, systemReserved].reduce((sum, requests) => sum + amountOf({ requests }, 'requests', resource), 0);

/**
 * Returns the total size in bytes of all preallocated huge pages, including reserved ones. That memory cannot be used
 * for anything else.
 */
const hugePageBytes = ({ extra = {} }: Capacity): number =>
  Object.entries(extra).reduce((sum, [name, bytes]) => (isHugePages(name) ? sum + bytes : sum), 0);

/**
 * Returns an eviction threshold in units of its resource. `text` is an amount such as `100Mi`, or a percentage of
 * `total` such as `10%`. Like the kubelet, treats `100%` as no threshold.
 */
export function evictionThreshold(text: string | undefined, total: number): number {
  if (text === undefined || text === '100%') return 0;
  return Math.ceil(thresholdAmount(text, total));
}
