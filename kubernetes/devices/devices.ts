/** Describes the devices of a node's device plugins, and the containers that they are allocated to. */
import type { CpuSet } from '../cpus/cpuSet.ts';

export interface PluginDevice {
  readonly id: string;
  readonly isHealthy: boolean;
  /** The NUMA nodes to which the device is attached. Empty if the plugin does not report any. */
  readonly numaNodes: CpuSet;
}

/** The options of a plugin (`DevicePluginOptions`). */
export interface PluginOptions {
  /** Whether `PreStartContainer` must be called before each start of a container. */
  readonly needsPreStart: boolean;
  /** Whether `GetPreferredAllocation` may be called before an allocation. */
  readonly hasPreferences: boolean;
}

/** A resource that a device plugin provides, e.g. `example.com/gpu`. */
export interface DeviceResource {
  readonly name: string;
  readonly devices: readonly PluginDevice[];
  readonly options: PluginOptions;
  /**
   * Whether the plugin is connected. While it is not, all of its devices count as unhealthy. A resource without a plugin
   * is removed after a grace period.
   */
  readonly isConnected: boolean;
}

export interface DeviceMount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly isReadOnly: boolean;
}

export interface DeviceNode {
  readonly containerPath: string;
  readonly hostPath: string;
  /** Any combination of `r`, `w` and `m`. */
  readonly permissions: string;
}

/** A plugin's changes to the configuration of a container (`ContainerAllocateResponse`). */
export interface ContainerEdits {
  readonly envs: readonly (readonly [name: string, value: string])[];
  readonly mounts: readonly DeviceMount[];
  readonly devices: readonly DeviceNode[];
  readonly annotations: readonly (readonly [name: string, value: string])[];
  /** Fully qualified names of CDI devices, e.g. `example.com/gpu=0`. */
  readonly cdiDevices: readonly string[];
}

export const NO_EDITS: ContainerEdits = { envs: [], mounts: [], devices: [], annotations: [], cdiDevices: [] };

/** NUMA node ID that stands for no NUMA node (`nodeWithoutTopology` in `devicemanager/manager.go`). */
export const NO_NUMA_NODE = -1;

/** The devices of one resource that are allocated to a container. */
export interface DeviceAllocation {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  /** The devices on each NUMA node. A device that is attached to several nodes is in the list of each. */
  readonly devicesByNode: readonly { readonly numaNode: number; readonly ids: readonly string[] }[];
  /** The plugin's response to `Allocate`. Undefined while the devices are only reserved. */
  readonly edits?: ContainerEdits | undefined;
}

/** The devices of one resource that a container has, with their health. */
export interface DeviceStatus {
  readonly container: string;
  readonly resource: string;
  readonly devices: readonly { readonly id: string; readonly isHealthy: boolean }[];
}

export function deviceIdsOf({ devicesByNode }: Pick<DeviceAllocation, 'devicesByNode'>): readonly string[] {
  return [...new Set(devicesByNode.flatMap(({ ids }) => ids))];
}

/** Groups devices by NUMA node, in the order in which the kubelet reads them from a plugin. */
export function groupByNumaNode(
  devices: readonly PluginDevice[],
  ids: readonly string[],
): DeviceAllocation['devicesByNode'] {
  const idsByNode = new Map<number, string[]>();
  for (const id of ids) {
    const { numaNodes = [] } = devices.find((device) => device.id === id) ?? {};
    for (const numaNode of numaNodes.length === 0 ? [NO_NUMA_NODE] : numaNodes)
      idsByNode.set(numaNode, [...(idsByNode.get(numaNode) ?? []), id]);
  }
  return [...idsByNode]
    .sort(([first], [second]) => first - second)
    .map(([numaNode, each]) => ({ numaNode, ids: each }));
}

export const findResource = (resources: readonly DeviceResource[], name: string): DeviceResource | undefined =>
  resources.find((resource) => resource.name === name);

/** Returns the IDs of the healthy devices of a resource. */
export const healthyDevices = ({ devices, isConnected }: DeviceResource): readonly string[] =>
  isConnected ? devices.filter(({ isHealthy }) => isHealthy).map(({ id }) => id) : [];

/** The number of devices of a resource, for the capacity of the node. */
export interface DeviceCount {
  readonly resource: string;
  readonly capacity: number;
  readonly allocatable: number;
}

/** Counts all devices for the capacity, and only the healthy ones for the allocatable amount (`GetCapacity`). */
export const countDevices = (resource: DeviceResource): DeviceCount => ({
  resource: resource.name,
  capacity: resource.devices.length,
  allocatable: healthyDevices(resource).length,
});

/**
 * Combines the edits of all resources of a container. The first of two conflicting edits applies
 * (`deviceRunContainerOptions` in `devicemanager/pod_devices.go`).
 */
export function mergeEdits(edits: readonly ContainerEdits[]): ContainerEdits {
  return {
    envs: firstOfEach(
      edits.flatMap(({ envs }) => envs),
      ([name]) => name,
    ),
    mounts: firstOfEach(
      edits.flatMap(({ mounts }) => mounts),
      ({ containerPath }) => containerPath,
    ),
    devices: firstOfEach(
      edits.flatMap(({ devices }) => devices),
      ({ containerPath }) => containerPath,
    ),
    annotations: firstOfEach(
      edits.flatMap(({ annotations }) => annotations),
      ([name]) => name,
    ),
    cdiDevices: [...new Set(edits.flatMap(({ cdiDevices }) => cdiDevices))],
  };
}

/** Returns the first item for each key. */
function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const itemByKey = new Map<string, T>();
  for (const item of items) if (!itemByKey.has(keyOf(item))) itemByKey.set(keyOf(item), item);
  return [...itemByKey.values()];
}
