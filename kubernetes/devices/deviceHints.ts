/**
 * Computes the NUMA nodes that can provide the devices of a container
 * (`pkg/kubelet/cm/devicemanager/topology_hints.go`).
 */
import { type CpuSet, cpuSetOf, intersectionOf } from '../cpus/cpuSet.ts';
import { nodeSetsOf, type ResourceHints, type TopologyHint } from '../cpus/topologyHints.ts';
import { hasTopology } from './chooseDevices.ts';
import { type DeviceResource, healthyDevices, type PluginDevice } from './devices.ts';

export interface DeviceHintRequest {
  readonly resource: DeviceResource;
  readonly count: number;
  /** Devices that are allocated to or reserved for containers. */
  readonly inUse: ReadonlySet<string>;
  /** Devices of the pod's earlier init containers. */
  readonly reusable: readonly string[];
  /** Devices that the container already has. Empty if there are none. */
  readonly existing: readonly string[];
  /** The NUMA nodes of the host. */
  readonly hostNodes: CpuSet;
}

/** Returns the hints for one resource of a container. Undefined if its plugin reports no NUMA nodes. */
export function deviceHints(request: DeviceHintRequest): ResourceHints {
  const { resource, count, inUse, reusable, existing } = request;
  if (!hasTopology(resource.devices)) return undefined;
  if (existing.length > 0) return existing.length === count ? hintsFor(request, existing, []) : [];
  const available = healthyDevices(resource).filter((id) => !inUse.has(id));
  const isSufficient = new Set([...available, ...reusable]).size >= count;
  return isSufficient ? hintsFor(request, available, reusable) : [];
}

/**
 * Returns the sets of NUMA nodes that have enough devices and include all reusable ones. The smallest sets that could
 * provide the devices on an empty node are preferred.
 */
function hintsFor(
  { resource: { devices }, count, hostNodes }: DeviceHintRequest,
  available: readonly string[],
  reusable: readonly string[],
): readonly TopologyHint[] {
  const deviceNodes = intersectionOf(cpuSetOf(devices.flatMap(({ numaNodes }) => [...numaNodes])), hostNodes);
  const candidateNodes = deviceNodes.length === 0 ? hostNodes : deviceNodes;
  const deviceById = new Map(devices.map((device) => [device.id, device]));
  const nodesOf = (id: string): CpuSet => deviceById.get(id)?.numaNodes ?? [];
  const nodeSets = nodeSetsOf(candidateNodes);
  const sufficientSizes = nodeSets
    .filter((nodes) => devices.filter((device) => isAttachedTo(device.numaNodes, nodes)).length >= count)
    .map((nodes) => nodes.length);
  const minSize = Math.min(candidateNodes.length, ...sufficientSizes);
  return nodeSets.flatMap((nodes) => {
    const reusableWithNodes = reusable.filter((id) => nodesOf(id).length > 0);
    if (reusableWithNodes.some((id) => !isAttachedTo(nodesOf(id), nodes))) return [];
    const availableCount = available.filter((id) => isAttachedTo(nodesOf(id), nodes)).length;
    if (reusableWithNodes.length + availableCount < count) return [];
    return [{ nodes, isPreferred: nodes.length === minSize }];
  });
}

const isAttachedTo = (deviceNodes: PluginDevice['numaNodes'], nodes: CpuSet): boolean =>
  intersectionOf(deviceNodes, nodes).length > 0;
