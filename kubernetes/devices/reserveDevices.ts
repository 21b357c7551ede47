/**
 * Reserves devices for the containers of a pod at its admission (`Allocate` in
 * `pkg/kubelet/cm/devicemanager/manager.go`).
 */

import type { Refusal } from '../admission/refusal.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { CpuSet } from '../cpus/cpuSet.ts';
import { isAllocatedAsDevice } from '../resources/devices.ts';
import type { Capacity } from '../resources/requests.ts';
import { amountOf } from '../resources/resources.ts';
import { chooseDevices, type PreferenceRequest, unusableResource } from './chooseDevices.ts';
import {
  type DeviceAllocation,
  type DeviceResource,
  deviceIdsOf,
  findResource,
  groupByNumaNode,
  healthyDevices,
} from './devices.ts';

/** The resources of all device plugins, and their allocated or reserved devices. */
export interface DevicePool {
  readonly resources: readonly DeviceResource[];
  readonly allocations: readonly DeviceAllocation[];
}

/** Devices that are reserved for a container until its plugin has allocated them. */
export interface DeviceReservation {
  readonly container: string;
  readonly resource: string;
  readonly count: number;
  readonly devices: readonly string[];
  /** Undefined if the plugin has no preferences. */
  readonly preferenceRequest?: PreferenceRequest | undefined;
  /** NUMA nodes that the topology manager has chosen. Undefined if any node is as good as another. */
  readonly numaNodes?: CpuSet | undefined;
  /** Devices of the pod's earlier init containers. */
  readonly reusable: readonly string[];
}

export type PodReservation =
  | { readonly pool: DevicePool; readonly reservations: readonly DeviceReservation[] }
  /** The kubelet's message about a request that cannot be satisfied. */
  | { readonly problem: string };

/** Returns the NUMA nodes that the topology manager has chosen for a container. */
type AffinityOf = (container: string) => CpuSet | undefined;

/** Reserves devices for all containers of a pod, or for none. Containers that already have devices retain them. */
export function reserveDevices(
  previousPool: DevicePool,
  pod: Pod,
  affinityOf: AffinityOf = () => undefined,
): PodReservation {
  const { initContainers = [], containers } = pod.spec;
  let pool = previousPool;
  const reservations: DeviceReservation[] = [];
  const reusable = new Map<string, readonly string[]>();
  for (const container of [...initContainers, ...containers]) {
    for (const [resourceName, count] of requestedDevices(pool, pod, container)) {
      const result = reserveForContainer(pool, {
        podUid: pod.metadata.uid,
        container: container.name,
        resourceName,
        count,
        reusable: reusable.get(resourceName) ?? [],
        numaNodes: affinityOf(container.name),
      });
      if ('problem' in result) return result;
      pool = result.pool;
      if (result.reservation !== undefined) reservations.push(result.reservation);
    }
    const canBeReused = initContainers.includes(container) && !isSidecar(container);
    for (const allocation of allocationsOf(pool, pod.metadata.uid, container.name)) {
      const ids = deviceIdsOf(allocation);
      const otherIds = (reusable.get(allocation.resource) ?? []).filter((id) => !ids.includes(id));
      reusable.set(allocation.resource, canBeReused ? [...otherIds, ...ids] : otherIds);
    }
  }
  return { pool, reservations };
}

interface ContainerDeviceRequest {
  readonly podUid: string;
  readonly container: string;
  readonly resourceName: string;
  readonly count: number;
  readonly reusable: readonly string[];
  readonly numaNodes: CpuSet | undefined;
}

function reserveForContainer(
  pool: DevicePool,
  request: ContainerDeviceRequest,
): { readonly pool: DevicePool; readonly reservation?: DeviceReservation } | { readonly problem: string } {
  const { podUid, container, resourceName, count, reusable, numaNodes } = request;
  const resource = findResource(pool.resources, resourceName);
  const existingAllocation = allocationsOf(pool, podUid, container).find((each) => each.resource === resourceName);
  if (existingAllocation !== undefined) {
    const problem = existingProblem(resource, existingAllocation, count);
    return problem === undefined ? { pool } : { problem };
  }
  const inUse = devicesInUse(pool, resourceName);
  const choice = chooseDevices({ resource, resourceName, count, inUse, reusable, numaNodes });
  if ('problem' in choice) return choice;
  if (choice.devices.length === 0) return { pool };
  const { devices, preferenceRequest } = choice;
  const reservation: DeviceReservation = {
    container,
    resource: resourceName,
    count,
    devices,
    preferenceRequest,
    numaNodes,
    reusable,
  };
  const devicesByNode = groupByNumaNode(resource?.devices ?? [], devices);
  const allocation: DeviceAllocation = { podUid, container, resource: resourceName, devicesByNode };
  return { pool: { ...pool, allocations: [...pool.allocations, allocation] }, reservation };
}

/** Returns the kubelet's message about devices that a container has from an earlier admission. */
function existingProblem(
  resource: DeviceResource | undefined,
  allocation: DeviceAllocation,
  count: number,
): string | undefined {
  const { podUid, container, resource: resourceName } = allocation;
  const ids = deviceIdsOf(allocation);
  if (ids.length !== count)
    return `pod "${podUid}" container "${container}" changed request for resource "${resourceName}" from ${ids.length} to ${count}`;
  const healthProblem = unusableResource(resource, resourceName);
  if (healthProblem !== undefined) return healthProblem;
  const healthyIds = new Set(resource && healthyDevices(resource));
  return ids.every((id) => healthyIds.has(id))
    ? undefined
    : `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resourceName}`;
}

/** Replaces reserved devices by those that the plugin prefers, if they are still free. */
export function withPreferredDevices(
  pool: DevicePool,
  podUid: string,
  reservation: DeviceReservation,
  preferred: readonly string[],
): { readonly pool: DevicePool; readonly devices: readonly string[] } {
  const { container, resource: resourceName, count, reusable, numaNodes } = reservation;
  const resource = findResource(pool.resources, resourceName);
  const isReserved = (each: DeviceAllocation) =>
    each.podUid === podUid && each.container === container && each.resource === resourceName;
  const otherAllocations = pool.allocations.filter((each) => !isReserved(each));
  const inUse = devicesInUse({ allocations: otherAllocations }, resourceName);
  const choice = chooseDevices({ resource, resourceName, count, inUse, reusable, numaNodes, preferred });
  // The resource has become unhealthy since. The allocation decides whether the reserved devices can be used.
  if (resource === undefined || 'problem' in choice) return { pool, devices: reservation.devices };
  const devicesByNode = groupByNumaNode(resource.devices, choice.devices);
  const allocations = pool.allocations.map((each) => (isReserved(each) ? { ...each, devicesByNode } : each));
  return { pool: { ...pool, allocations }, devices: choice.devices };
}

/** Records the plugin's response to an allocation. */
export const withEdits = (
  pool: DevicePool,
  { podUid, container, resource, edits }: Pick<DeviceAllocation, 'podUid' | 'container' | 'resource' | 'edits'>,
): DevicePool => ({
  ...pool,
  allocations: pool.allocations.map((each) =>
    each.podUid === podUid && each.container === container && each.resource === resource ? { ...each, edits } : each,
  ),
});

/** Releases the devices of pods. Returns the same pool if the pods have none. */
export function releaseDevices(pool: DevicePool, isReleased: (podUid: string) => boolean): DevicePool {
  const allocations = pool.allocations.filter(({ podUid }) => !isReleased(podUid));
  return allocations.length === pool.allocations.length ? pool : { ...pool, allocations };
}

export const allocationsOf = (
  { allocations }: Pick<DevicePool, 'allocations'>,
  podUid: string,
  container?: string,
): readonly DeviceAllocation[] =>
  allocations.filter((each) => each.podUid === podUid && (container === undefined || each.container === container));

/**
 * Returns the numbers of devices that a container requests, by resource. Limits count, because they equal the requests.
 * A resource without a plugin counts only if devices of it are allocated (`isDevicePluginResource`).
 */
function requestedDevices(
  { resources, allocations }: DevicePool,
  pod: Pod,
  container: Container,
): (readonly [resource: string, count: number])[] {
  const { limits = {} } = container.resources ?? {};
  return Object.keys(limits)
    .sort()
    .filter(
      (name) =>
        (findResource(resources, name) !== undefined || allocations.some(({ resource }) => resource === name)) &&
        !isAllocatedAsDevice(pod, name),
    )
    .map((name) => [name, amountOf(container.resources, 'limits', name)] as const);
}

const devicesInUse = ({ allocations }: Pick<DevicePool, 'allocations'>, resourceName: string): ReadonlySet<string> =>
  new Set(allocations.filter(({ resource }) => resource === resourceName).flatMap(deviceIdsOf));

/**
 * Raises the capacity to the number of allocated devices for a pod that has devices, because it must not be refused when
 * its plugin is missing (`sanitizeNodeAllocatable`).
 */
export function capacityForPod(pool: DevicePool, podUid: string, capacity: Capacity): Capacity {
  if (allocationsOf(pool, podUid).length === 0) return capacity;
  const names = [...new Set(pool.allocations.map(({ resource }) => resource))];
  const extra = new Map(Object.entries(capacity.extra ?? {}));
  for (const name of names) extra.set(name, Math.max(extra.get(name) ?? 0, devicesInUse(pool, name).size));
  return { ...capacity, extra: Object.fromEntries(extra) };
}

/** The refusal of a pod whose devices cannot be allocated (`GetPodAdmitResult` in `pkg/kubelet/lifecycle`). */
export const deviceRefusal = (problem: string): Refusal => ({
  reason: 'UnexpectedAdmissionError',
  message: `Allocate failed due to ${problem}, which is unexpected`,
});
