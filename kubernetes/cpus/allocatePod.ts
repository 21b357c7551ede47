/**
 * Allocates NUMA nodes, exclusive CPUs and memory to the containers of a pod at its admission (`scope_container.go` and
 * `scope_pod.go` in `pkg/kubelet/cm/topologymanager`).
 */
import type { Refusal } from '../admission/refusal.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { PodDeviceAllocator } from '../devices/reserveDevices.ts';
import { findMemory, type MemoryAssignments, type MemoryPolicy } from '../numaMemory/memoryAssignments.ts';
import {
  assignMemory,
  containerMemoryHints,
  hasOwnMemory,
  nextReusableMemory,
  podMemoryHints,
  type ReusableMemory,
} from '../numaMemory/memoryPolicy.ts';
import {
  assignCpus,
  type CpuAssignments,
  type CpuPolicy,
  containerCpuHints,
  exclusiveCpuCount,
  nextReusableCpus,
  podCpuHints,
} from './cpuPolicy.ts';
import { type CpuSet, NO_CPUS } from './cpuSet.ts';
import { mergeHints, type ResourceHints, type TopologyHint, type TopologyManager } from './topologyHints.ts';

/** The policies by which a node allocates CPUs and memory. */
export interface ResourceManagers {
  /** Undefined if the topology policy is `none`. */
  readonly topologyManager?: TopologyManager | undefined;
  /** Undefined unless the CPU manager has the static policy. */
  readonly cpuPolicy?: CpuPolicy | undefined;
  /** Undefined unless the memory manager has the Static policy. */
  readonly memoryPolicy?: MemoryPolicy | undefined;
}

/** The resources that are assigned to containers under each policy. */
export interface ResourceAssignments {
  readonly cpus?: CpuAssignments | undefined;
  readonly memory?: MemoryAssignments | undefined;
}

/** Counts of the allocation's results, for the metrics. */
export interface AllocationCounts {
  /** Whether the topology manager chooses NUMA nodes for the pod as a whole. */
  readonly isPerPod: boolean;
  /** Number of containers that requested exclusive CPUs. */
  readonly pinningRequests: number;
  readonly pinningErrors: number;
  /** Number of containers whose memory had to be pinned to NUMA nodes, whether or not this succeeded. */
  readonly memoryPinningRequests: number;
  readonly memoryPinningErrors: number;
  /** 1 if the topology manager, or a manager that it called, refused the pod, and 0 otherwise. */
  readonly topologyErrors: number;
  /** Number of containers that have whole physical cores to themselves. */
  readonly physicalCpuAligned: number;
  readonly physicalCpuFailures: number;
  readonly uncoreCacheAligned: number;
  /**
   * Number of allocations on a single NUMA node under the policy single-numa-node. Allocations are counted per
   * container or, with the scope `pod`, once per pod.
   */
  readonly numaAligned: number;
  readonly numaFailures: number;
}

const NO_COUNTS: Omit<AllocationCounts, 'isPerPod'> = {
  pinningRequests: 0,
  pinningErrors: 0,
  memoryPinningRequests: 0,
  memoryPinningErrors: 0,
  topologyErrors: 0,
  physicalCpuAligned: 0,
  physicalCpuFailures: 0,
  uncoreCacheAligned: 0,
  numaAligned: 0,
  numaFailures: 0,
};

export type PodAllocation = { readonly counts: AllocationCounts } & (
  | { readonly assignments: ResourceAssignments }
  | { readonly refusal: Refusal }
);

/** The refusal of a pod for which the topology policy finds no NUMA nodes. */
const TOPOLOGY_REFUSAL: Refusal = {
  reason: 'TopologyAffinityError',
  message: 'Resources cannot be allocated with Topology locality',
};

/** The assignments so far, and the resources of earlier containers that the next container can reuse. */
interface Allocation {
  readonly assignments: ResourceAssignments;
  readonly reusableCpus: CpuSet;
  readonly reusableMemory: ReusableMemory;
}

/**
 * Allocates CPUs and memory to all containers of a pod, or to none. Containers that already have resources retain them.
 * Also reserves, on the same NUMA nodes, the devices that the containers request. The caller reads these reservations
 * from `devices`.
 */
export function allocatePod(
  managers: ResourceManagers,
  previous: ResourceAssignments,
  pod: Pod,
  devices?: PodDeviceAllocator,
): PodAllocation {
  const policy = managers.topologyManager?.policy;
  const isPerPod = policy?.isPerPod === true;
  const guaranteesAlignment = policy?.name === 'single-numa-node';
  let counts: AllocationCounts = { ...NO_COUNTS, isPerPod };
  const addCounts = (changes: CountChanges) => {
    counts = withCounts(counts, changes);
  };
  const refuse = (refusal: Refusal): PodAllocation => {
    return { refusal, counts: withCounts(counts, { topologyErrors: policy !== undefined }) };
  };
  let allocation: Allocation = { assignments: previous, reusableCpus: NO_CPUS, reusableMemory: [] };
  const podHint = isPerPod
    ? chooseNumaNodes(managers, [...podHints(managers, previous, pod), ...(devices?.podHints() ?? [])])
    : undefined;
  if (podHint?.isAdmitted === false) {
    addCounts({ numaFailures: guaranteesAlignment });
    return refuse(TOPOLOGY_REFUSAL);
  }
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const { hint, isAdmitted } =
      podHint ??
      chooseNumaNodes(managers, [
        ...containerHints(managers, allocation, { pod, container }),
        ...(devices?.containerHints(container) ?? []),
      ]);
    if (!isAdmitted) {
      addCounts({ numaFailures: guaranteesAlignment });
      return refuse(TOPOLOGY_REFUSAL);
    }
    devices?.reserve(container, hint.nodes);
    for (const allocate of [allocateCpus, allocateMemory]) {
      const result = allocate(managers, allocation, { pod, container, hint });
      addCounts(result.changes);
      if ('refusal' in result) return refuse(result.refusal);
      allocation = result.allocation;
    }
    addCounts({ numaAligned: guaranteesAlignment && podHint === undefined });
  }
  addCounts({ numaAligned: guaranteesAlignment && podHint !== undefined });
  return { assignments: allocation.assignments, counts };
}

/**
 * Returns the NUMA nodes for a container of an admitted pod that needs devices again, or undefined if any node is as
 * good as another. The CPUs and memory assigned to the pod yield the same hints as at its admission. The policy does
 * not refuse the container, because its pod has been admitted.
 */
export function numaNodesOfAdmitted(
  managers: ResourceManagers,
  assignments: ResourceAssignments,
  { pod, container }: PodContainer,
  devices: PodDeviceAllocator,
): CpuSet | undefined {
  const hints =
    managers.topologyManager?.policy.isPerPod === true
      ? [...podHints(managers, assignments, pod), ...devices.podHints()]
      : [
          ...containerHints(managers, { assignments, reusableCpus: NO_CPUS, reusableMemory: [] }, { pod, container }),
          ...devices.containerHints(container),
        ];
  return chooseNumaNodes(managers, hints).hint.nodes;
}

/** Returns the hints of all managers for a pod as a whole. */
const podHints = (
  { cpuPolicy }: ResourceManagers,
  { cpus, memory }: ResourceAssignments,
  pod: Pod,
): readonly ResourceHints[] => [
  ...(cpuPolicy && cpus ? [podCpuHints(cpuPolicy, cpus, pod)] : []),
  ...(memory ? podMemoryHints(memory, pod) : []),
];

/** Returns the hints of all managers for a container. */
const containerHints = (
  { cpuPolicy }: ResourceManagers,
  { assignments: { cpus, memory }, reusableCpus, reusableMemory }: Allocation,
  podContainer: PodContainer,
): readonly ResourceHints[] => [
  ...(cpuPolicy && cpus ? [containerCpuHints(cpuPolicy, cpus, podContainer, reusableCpus)] : []),
  ...(memory ? containerMemoryHints(memory, podContainer, reusableMemory) : []),
];

interface PodContainer {
  readonly pod: Pod;
  readonly container: Container;
}

interface PlacedContainer extends PodContainer {
  /** The NUMA nodes that the topology manager has chosen. */
  readonly hint: TopologyHint;
}

type ContainerResult = { readonly changes: CountChanges } & (
  | { readonly allocation: Allocation }
  | { readonly refusal: Refusal }
);

function allocateCpus(
  { cpuPolicy }: ResourceManagers,
  allocation: Allocation,
  { pod, container, hint }: PlacedContainer,
): ContainerResult {
  const { assignments, reusableCpus: reusable } = allocation;
  if (cpuPolicy === undefined || assignments.cpus === undefined) return { allocation, changes: {} };
  const isPinned = exclusiveCpuCount(pod.spec, container) > 0;
  const needsWholeCores = isPinned && cpuPolicy.options.fullPcpusOnly === true;
  const result = assignCpus(cpuPolicy, assignments.cpus, { pod, container }, { numaNodes: hint.nodes, reusable });
  if ('refusal' in result) {
    return {
      refusal: withCause(result.refusal, container, assignments.cpus),
      changes: { pinningRequests: isPinned, pinningErrors: 1, physicalCpuFailures: needsWholeCores },
    };
  }
  const { cpus, isInOneUncoreCache = false } = result;
  return {
    allocation: {
      ...allocation,
      assignments: { ...assignments, cpus: result.assignments },
      reusableCpus: cpus === undefined ? reusable : nextReusableCpus(reusable, pod, container, cpus),
    },
    changes: {
      pinningRequests: isPinned,
      physicalCpuAligned: needsWholeCores,
      uncoreCacheAligned: isInOneUncoreCache,
    },
  };
}

function allocateMemory(
  _managers: ResourceManagers,
  allocation: Allocation,
  { pod, container, hint }: PlacedContainer,
): ContainerResult {
  const { assignments, reusableMemory: reusable } = allocation;
  if (assignments.memory === undefined || hasReleasedMemory(assignments.memory, pod, container))
    return { allocation, changes: {} };
  const changes = { memoryPinningRequests: hasOwnMemory(pod.spec) };
  const result = assignMemory(assignments.memory, { pod, container }, { hint, reusable });
  if ('refusal' in result) {
    const refusal = { ...result.refusal, cause: `container ${container.name} needs memory of its own on NUMA nodes` };
    return { refusal, changes: { ...changes, memoryPinningErrors: 1 } };
  }
  const { blocks } = result;
  return {
    allocation: {
      ...allocation,
      assignments: { ...assignments, memory: result.assignments },
      reusableMemory: blocks === undefined ? reusable : nextReusableMemory(reusable, { pod, container }, blocks),
    },
    changes,
  };
}

type CountName = keyof typeof NO_COUNTS;

/** Amounts by which counts increase. `true` means 1. */
type CountChanges = Partial<Record<CountName, number | boolean>>;

function withCounts(counts: AllocationCounts, changes: CountChanges): AllocationCounts {
  const changedCounts = Object.entries(changes).map(([name, change]) => {
    // Safe cast, because the names are those of the counts.
    return [name, counts[name as CountName] + Number(change)] as const;
  });
  return { ...counts, ...Object.fromEntries(changedCounts) };
}

/**
 * Whether an init container has completed and its memory has been released. That is the case if later containers of the
 * pod have memory but this container has none.
 */
function hasReleasedMemory(memory: MemoryAssignments, { metadata: { uid }, spec }: Pod, container: Container): boolean {
  const { initContainers = [], containers } = spec;
  const position = initContainers.indexOf(container);
  if (position < 0 || isSidecar(container) || findMemory(memory, uid, container.name) !== undefined) return false;
  const laterContainers = [...initContainers.slice(position + 1), ...containers];
  return laterContainers.some(({ name }) => findMemory(memory, uid, name) !== undefined);
}

/** Chooses the NUMA nodes according to the topology policy. Without a policy, all nodes are equally good. */
function chooseNumaNodes({ topologyManager }: ResourceManagers, hints: readonly ResourceHints[]) {
  if (topologyManager === undefined) {
    const hint: TopologyHint = { nodes: undefined, isPreferred: false };
    return { hint, isAdmitted: true };
  }
  return mergeHints(topologyManager.policy, topologyManager.numaNodes, hints);
}

/**
 * Adds a cause to a refusal, with the name of the container and the number of CPUs that are exclusive to other
 * containers.
 */
function withCause(refusal: Refusal, { name }: Container, { exclusive }: CpuAssignments): Refusal {
  const count = exclusive.reduce((sum, { cpus }) => sum + cpus.length, 0);
  const holders = count === 0 ? '' : `; ${count} CPUs are exclusive to other containers`;
  return { ...refusal, cause: `container ${name} needs exclusive CPUs${holders}` };
}
