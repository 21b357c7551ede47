/**
 * Reports the health of allocated devices in the statuses of containers (`UpdateAllocatedResourcesStatus` in
 * `pkg/kubelet/cm/devicemanager/manager.go`).
 */
import type { ContainerStatus } from '../api/schema/status.ts';
import { type DeviceStatus, deviceIdsOf, findResource } from './devices.ts';
import { allocationsOf, type DevicePool } from './reserveDevices.ts';

/** Returns the devices of a pod. A device that no plugin has reported counts as healthy, as in the kubelet. */
export function deviceStatuses(pool: DevicePool, podUid: string): readonly DeviceStatus[] {
  const { resources, formerResources = [] } = pool;
  return allocationsOf(pool, podUid).map((allocation) => {
    const { devices = [] } = findResource([...resources, ...formerResources], allocation.resource) ?? {};
    const unhealthyIds = new Set(devices.filter(({ isHealthy }) => !isHealthy).map(({ id }) => id));
    return {
      container: allocation.container,
      resource: allocation.resource,
      devices: deviceIdsOf(allocation).map((id) => ({ id, isHealthy: !unhealthyIds.has(id) })),
    };
  });
}

/** Returns the UIDs of the pods with a device whose health differs between the two pools. */
export function podsWithChangedHealth(before: DevicePool, after: DevicePool): readonly string[] {
  const uids = [...new Set(after.allocations.map(({ podUid }) => podUid))];
  const healthOf = (pool: DevicePool, uid: string) =>
    deviceStatuses({ ...pool, allocations: after.allocations }, uid)
      .flatMap(({ devices }) => devices)
      .map(({ isHealthy }) => isHealthy);
  return uids.filter((uid) => {
    const previousHealth = healthOf(before, uid);
    return healthOf(after, uid).some((isHealthy, index) => isHealthy !== previousHealth[index]);
  });
}

/** Adds the devices to the statuses of their containers. */
export function withDeviceStatuses(
  statuses: ContainerStatus[],
  devices: readonly DeviceStatus[] | undefined,
): ContainerStatus[] {
  if (devices === undefined) return statuses;
  return statuses.map((status) => {
    const ownDevices = devices.filter(({ container }) => container === status.name);
    if (ownDevices.length === 0) return status;
    const allocatedResourcesStatus = ownDevices.map(({ resource, devices: each }) => ({
      name: resource,
      resources: each.map(({ id, isHealthy }) => ({ resourceID: id, health: isHealthy ? 'Healthy' : 'Unhealthy' })),
    }));
    const otherResources = (status.allocatedResourcesStatus ?? []).filter(
      ({ name }) => !ownDevices.some(({ resource }) => resource === name),
    );
    return { ...status, allocatedResourcesStatus: [...otherResources, ...allocatedResourcesStatus] };
  });
}

/** Describes the devices of a container by resource, e.g. `devices of example.com/gpu: g0, g1 (unhealthy)`. */
export const explainDevices = (pool: DevicePool, podUid: string, containerName: string): readonly string[] =>
  deviceStatuses(pool, podUid).flatMap(({ container, resource, devices }) => {
    const texts = devices.map(({ id, isHealthy }) => (isHealthy ? id : `${id} (unhealthy)`));
    return container === containerName ? [`devices of ${resource}: ${texts.join(', ')}`] : [];
  });
