/** Chooses the devices of a container (`devicesToAllocate` in `pkg/kubelet/cm/devicemanager/manager.go`). */
import { type CpuSet, intersectionOf } from '../cpus/cpuSet.ts';
import { type DeviceResource, healthyDevices, NO_NUMA_NODE, type PluginDevice } from './devices.ts';

export interface DeviceRequest {
  /** The resource with its devices. Undefined if no plugin has registered it. */
  readonly resource: DeviceResource | undefined;
  readonly resourceName: string;
  readonly count: number;
  /** Devices that are allocated to containers, including those of the requesting pod. */
  readonly inUse: ReadonlySet<string>;
  /** Devices of the pod's earlier init containers. */
  readonly reusable: readonly string[];
  /** The NUMA nodes that the topology manager has chosen. Undefined if any node is as good as another. */
  readonly numaNodes: CpuSet | undefined;
  /** The devices that the plugin prefers. Undefined until it has responded. */
  readonly preferred?: readonly string[];
}

/** A request to the plugin for the devices that it prefers (`ContainerPreferredAllocationRequest`). */
export interface PreferenceRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly count: number;
}

export type DeviceChoice =
  | {
      readonly devices: readonly string[];
      /** Undefined if the plugin has no preferences, or has already stated them. */
      readonly preferenceRequest?: PreferenceRequest | undefined;
    }
  /** The kubelet's message about a request that cannot be satisfied. */
  | { readonly problem: string };

/**
 * Chooses devices in the order of the kubelet: devices of earlier init containers, devices on the chosen NUMA nodes,
 * devices that the plugin prefers, and then any others. Without the plugin's preferences, the result is only a
 * provisional reservation, and a later choice may differ.
 */
export function chooseDevices(request: DeviceRequest): DeviceChoice {
  const { resource, resourceName, count, inUse, reusable, preferred } = request;
  const healthProblem = unusableResource(resource, resourceName);
  if (resource === undefined || healthProblem !== undefined) return { problem: healthProblem ?? '' };
  const reused = reusable.slice(0, count);
  if (reused.length === count) return { devices: reused };
  const needed = count - reused.length;
  const available = healthyDevices(resource).filter((id) => !inUse.has(id));
  if (available.length < needed) {
    return {
      problem: `requested number of devices unavailable for ${resourceName}. Requested: ${needed}, Available: ${available.length}`,
    };
  }
  const { aligned, unaligned, withoutNode } = groupByAffinity(resource.devices, available, request.numaNodes);
  const isChoiceAmongAligned = needed < aligned.length;
  const mandatory = isChoiceAmongAligned ? reused : [...reused, ...aligned];
  if (mandatory.length === count) return { devices: mandatory };
  const candidates = isChoiceAmongAligned ? aligned : available;
  const preferredCandidates = candidates.filter((id) => preferred?.includes(id) && !mandatory.includes(id));
  const fallbacks = isChoiceAmongAligned ? aligned : [...unaligned, ...withoutNode];
  const devices = [...new Set([...mandatory, ...preferredCandidates, ...fallbacks])].slice(0, count);
  const needsPreferences = preferred === undefined && resource.options.hasPreferences;
  return needsPreferences
    ? {
        devices,
        preferenceRequest: { available: [...new Set([...candidates, ...mandatory])], mustInclude: mandatory, count },
      }
    : { devices };
}

/** Returns the kubelet's message about a resource none of whose devices can be allocated. */
export function unusableResource(resource: DeviceResource | undefined, resourceName: string): string | undefined {
  if (resource === undefined) return `cannot allocate unregistered device ${resourceName}`;
  return healthyDevices(resource).length === 0
    ? `no healthy devices present; cannot allocate unhealthy devices ${resourceName}`
    : undefined;
}

/** Whether a plugin reports NUMA nodes for its devices (`deviceHasTopologyAlignment`). */
export const hasTopology = (devices: readonly PluginDevice[]): boolean =>
  devices.some(({ numaNodes }) => numaNodes.length > 0);

interface DevicesByAffinity {
  readonly aligned: readonly string[];
  readonly unaligned: readonly string[];
  readonly withoutNode: readonly string[];
}

/**
 * Divides devices into those on the chosen NUMA nodes, those on other nodes, and those without a node
 * (`filterByAffinity`). A device that is attached to several nodes belongs to the first group if any of them is a
 * chosen node.
 */
function groupByAffinity(
  devices: readonly PluginDevice[],
  available: readonly string[],
  numaNodes: CpuSet | undefined,
): DevicesByAffinity {
  if (numaNodes === undefined || !hasTopology(devices)) return { aligned: [], unaligned: [], withoutNode: available };
  const groupOf = (id: string): keyof DevicesByAffinity => {
    const { numaNodes: deviceNodes = [] } = devices.find((device) => device.id === id) ?? {};
    if (deviceNodes.length === 0 || deviceNodes.includes(NO_NUMA_NODE)) return 'withoutNode';
    return intersectionOf(deviceNodes, numaNodes).length > 0 ? 'aligned' : 'unaligned';
  };
  const inGroup = (group: keyof DevicesByAffinity) => available.filter((id) => groupOf(id) === group);
  return { aligned: inGroup('aligned'), unaligned: inGroup('unaligned'), withoutNode: inGroup('withoutNode') };
}
