/**
 * Reserves devices for the containers of a pod at its admission (`Allocate` in
 * `pkg/kubelet/cm/devicemanager/manager.go`).
 */

import type { Refusal } from '../admission/refusal.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { CpuSet } from '../cpus/cpuSet.ts';
import type { ResourceHints } from '../cpus/topologyHints.ts';
import { isAllocatedAsDevice } from '../resources/devices.ts';
import type { Capacity } from '../resources/requests.ts';
import { amountOf, podRequest } from '../resources/resources.ts';
import { chooseDevices, type PreferenceRequest, unusableResource } from './chooseDevices.ts';
import { deviceHints } from './deviceHints.ts';
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
  /** Resources whose plugins have been removed permanently, with the last known health of their devices. */
  readonly formerResources?: readonly DeviceResource[] | undefined;
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

/** Reserves devices for the containers of a pod, one after the other. */
export class PodDeviceAllocator {
  readonly #pod: Pod;
  /** The NUMA nodes of the host. */
  readonly #hostNodes: CpuSet;
  #pool: DevicePool;
  #problem: string | undefined;
  readonly #reservations: DeviceReservation[] = [];
  /** Devices of earlier init containers, by resource. */
  readonly #reusable = new Map<string, readonly string[]>();

  constructor(pool: DevicePool, pod: Pod, hostNodes: CpuSet = []) {
    this.#pool = pool;
    this.#pod = pod;
    this.#hostNodes = hostNodes;
  }

  /** Returns the hints for the NUMA nodes of a container's devices. */
  containerHints(container: Container): readonly ResourceHints[] {
    return requestedDevices(this.#pool, this.#pod, container).map(([resource, count]) =>
      this.#hints(resource, { count, container: container.name, reusable: this.#reusable.get(resource) ?? [] }),
    );
  }

  /** Returns the hints for the NUMA nodes of all devices of the pod. */
  podHints(): readonly ResourceHints[] {
    const { spec } = this.#pod;
    const requests = [...(spec.initContainers ?? []), ...spec.containers].flatMap((container) =>
      requestedDevices(this.#pool, this.#pod, container),
    );
    const names = [...new Set(requests.map(([resource]) => resource))];
    return names.map((resource) => this.#hints(resource, { count: podRequest(spec, resource), reusable: [] }));
  }

  #hints(
    resourceName: string,
    { count, container, reusable }: { count: number; container?: string; reusable: readonly string[] },
  ): ResourceHints {
    const resource = findResource(this.#pool.resources, resourceName);
    if (resource === undefined) return undefined;
    // Count a device once if it is allocated to several containers of the pod. This is possible, because init
    // containers complete before the other containers start.
    const existing = new Set(
      allocationsOf(this.#pool, this.#pod.metadata.uid, container)
        .filter((each) => each.resource === resourceName)
        .flatMap(deviceIdsOf),
    );
    const inUse = devicesInUse(this.#pool, resourceName);
    return deviceHints({ resource, count, inUse, reusable, existing: [...existing], hostNodes: this.#hostNodes });
  }

  /** Reserves the devices of a container. `numaNodes` is undefined if any NUMA node is as good as another. */
  reserve(container: Container, numaNodes?: CpuSet): void {
    const { metadata } = this.#pod;
    for (const [resourceName, count] of requestedDevices(this.#pool, this.#pod, container)) {
      if (this.#problem !== undefined) return;
      const result = reserveForContainer(this.#pool, {
        podUid: metadata.uid,
        container: container.name,
        resourceName,
        count,
        reusable: this.#reusable.get(resourceName) ?? [],
        numaNodes,
      });
      if ('problem' in result) {
        this.#problem = result.problem;
        return;
      }
      this.#pool = result.pool;
      if (result.reservation !== undefined) this.#reservations.push(result.reservation);
    }
    this.recordReuse(container);
  }

  /** Records which devices of a container the later containers of the pod can reuse. */
  recordReuse(container: Container): void {
    const { metadata, spec } = this.#pod;
    const canBeReused = spec.initContainers?.includes(container) === true && !isSidecar(container);
    for (const allocation of allocationsOf(this.#pool, metadata.uid, container.name)) {
      const ids = deviceIdsOf(allocation);
      const otherIds = (this.#reusable.get(allocation.resource) ?? []).filter((id) => !ids.includes(id));
      this.#reusable.set(allocation.resource, canBeReused ? [...otherIds, ...ids] : otherIds);
    }
  }

  /** Returns the reservations of all containers, or the problem that prevents them. */
  result(): PodReservation {
    return this.#problem === undefined
      ? { pool: this.#pool, reservations: this.#reservations }
      : { problem: this.#problem };
  }
}

/**
 * Reserves devices on any NUMA nodes for all containers of a pod, or for none. Containers that already have devices
 * retain them.
 */
export function reserveDevices(pool: DevicePool, pod: Pod): PodReservation {
  const allocator = new PodDeviceAllocator(pool, pod);
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) allocator.reserve(container);
  return allocator.result();
}

/**
 * Reserves devices again for one container of an admitted pod, e.g. because the device checkpoint did not contain them
 * (`GetDeviceRunContainerOptions`). As at admission, the container can reuse the devices of earlier init containers.
 * `chooseNumaNodes` is called once the allocator has recorded the reusable devices, because they affect the hints.
 */
export function reserveAgain(
  allocator: PodDeviceAllocator,
  pod: Pod,
  container: Container,
  chooseNumaNodes: () => CpuSet | undefined,
): PodReservation {
  for (const earlier of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    if (earlier.name === container.name) break;
    allocator.recordReuse(earlier);
  }
  allocator.reserve(container, chooseNumaNodes());
  return allocator.result();
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

/** Returns the kubelet's message if a container cannot use the devices from its earlier admission. */
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

/**
 * Replaces reserved devices with those that the plugin prefers, if they are still free. Later containers of the pod
 * reuse the new devices instead of the replaced ones.
 */
export function withPreferredDevices(
  pool: DevicePool,
  podUid: string,
  reservation: DeviceReservation,
  preferred: readonly string[],
): { readonly pool: DevicePool; readonly devices: readonly string[] } {
  const { container, resource: resourceName, count, reusable, numaNodes } = reservation;
  const resource = findResource(pool.resources, resourceName);
  const ownIds = reservation.devices.filter((id) => !reusable.includes(id));
  const inUse = new Set([...devicesInUse(pool, resourceName)].filter((id) => !ownIds.includes(id)));
  const choice = chooseDevices({ resource, resourceName, count, inUse, reusable, numaNodes, preferred });
  // Retain the reserved devices if the resource has been removed or become unhealthy since the reservation. The
  // allocation decides whether they can be used.
  if (resource === undefined || 'problem' in choice) return { pool, devices: reservation.devices };
  const replacements = replacedDevices(reservation.devices, choice.devices);
  const replaceDevicesIn = (allocation: DeviceAllocation): DeviceAllocation => {
    if (allocation.podUid !== podUid || allocation.resource !== resourceName) return allocation;
    const ids =
      allocation.container === container
        ? choice.devices
        : deviceIdsOf(allocation).map((id) => replacements.get(id) ?? id);
    return { ...allocation, devicesByNode: groupByNumaNode(resource.devices, ids) };
  };
  return { pool: { ...pool, allocations: pool.allocations.map(replaceDevicesIn) }, devices: choice.devices };
}

/** Records the devices that were chosen for a reservation, including in the later reservations that reuse them. */
export function withChosenDevices(
  reservations: readonly DeviceReservation[],
  chosen: DeviceReservation,
  devices: readonly string[],
): readonly DeviceReservation[] {
  const replacements = replacedDevices(chosen.devices, devices);
  const replace = (id: string) => replacements.get(id) ?? id;
  return reservations.map((each) => {
    if (each === chosen) return { ...each, devices };
    if (each.resource !== chosen.resource) return each;
    const { preferenceRequest } = each;
    return {
      ...each,
      devices: each.devices.map(replace),
      reusable: each.reusable.map(replace),
      preferenceRequest: preferenceRequest && {
        ...preferenceRequest,
        available: preferenceRequest.available.map(replace),
        mustInclude: preferenceRequest.mustInclude.map(replace),
      },
    };
  });
}

/** Maps each device that is only in `former` to a device that is only in `next`, and vice versa. */
function replacedDevices(former: readonly string[], next: readonly string[]): ReadonlyMap<string, string> {
  const added = next.filter((id) => !former.includes(id));
  const removed = former.filter((id) => !next.includes(id));
  const replacements = removed.flatMap((id, index) => {
    const replacement = added[index];
    return replacement === undefined ? [] : [[id, replacement] as const, [replacement, id] as const];
  });
  return new Map(replacements);
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
 * Returns the number of devices of each resource that a container requests. Reads the limits, because they equal the
 * requests. A resource without a plugin is included only if devices of it are allocated (`isDevicePluginResource`).
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
 * Raises the capacity to the number of allocated devices if the pod already has devices, so that the pod is not refused
 * while a plugin is missing (`sanitizeNodeAllocatable`).
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
