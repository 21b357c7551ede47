/**
 * Allocates NUMA nodes and exclusive CPUs to the containers of a pod at its admission (`scope_container.go` and
 * `scope_pod.go` in `pkg/kubelet/cm/topologymanager`).
 */
import type { Refusal } from '../admission/refusal.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
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
import { partsOf } from './cpuTopology.ts';
import { mergeHints, type ResourceHints, type TopologyHint, type TopologyPolicy } from './topologyHints.ts';

/** The policies by which a node allocates CPUs. */
export interface ResourceManagers {
  readonly topologyPolicy: TopologyPolicy;
  readonly cpuPolicy: CpuPolicy;
}

/** Results of the allocation that the metrics count. */
export interface AllocationCounts {
  /** Whether the topology manager chooses NUMA nodes for the pod as a whole. */
  readonly isPerPod: boolean;
  /** Number of containers that requested exclusive CPUs. */
  readonly pinningRequests: number;
  readonly pinningErrors: number;
  /** 1 if the topology manager, or a manager that it called, refused the pod, and 0 otherwise. */
  readonly topologyErrors: number;
  /** Number of containers with whole physical cores, which they share with no other container. */
  readonly physicalCpuAligned: number;
  readonly physicalCpuFailures: number;
  readonly uncoreCacheAligned: number;
  /**
   * Number of allocations on a single NUMA node under the policy single-numa-node. Each container counts, or with the
   * scope pod only the pod as a whole.
   */
  readonly numaAligned: number;
  readonly numaFailures: number;
}

const NO_COUNTS: Omit<AllocationCounts, 'isPerPod'> = {
  pinningRequests: 0,
  pinningErrors: 0,
  topologyErrors: 0,
  physicalCpuAligned: 0,
  physicalCpuFailures: 0,
  uncoreCacheAligned: 0,
  numaAligned: 0,
  numaFailures: 0,
};

export type PodCpuAllocation = { readonly counts: AllocationCounts } & (
  | { readonly assignments: CpuAssignments }
  | { readonly refusal: Refusal }
);

/** The refusal of a pod for which the topology policy finds no NUMA nodes. */
const TOPOLOGY_REFUSAL: Refusal = {
  reason: 'TopologyAffinityError',
  message: 'Resources cannot be allocated with Topology locality',
};

/** Allocates CPUs to all containers of a pod, or to none. Containers that already have CPUs keep them. */
export function allocatePod(
  managers: ResourceManagers,
  previousAssignments: CpuAssignments,
  pod: Pod,
): PodCpuAllocation {
  const { cpuPolicy, topologyPolicy } = managers;
  const guaranteesAlignment = topologyPolicy.name === 'single-numa-node';
  let counts: AllocationCounts = { ...NO_COUNTS, isPerPod: topologyPolicy.isPerPod };
  const addCounts = (changes: CountChanges) => {
    counts = withCounts(counts, changes);
  };
  const refuse = (refusal: Refusal): PodCpuAllocation => {
    const isByTopologyManager = topologyPolicy.name !== 'none';
    return { refusal, counts: withCounts(counts, { topologyErrors: isByTopologyManager }) };
  };
  let assignments = previousAssignments;
  let reusable: CpuSet = NO_CPUS;
  const podHint = topologyPolicy.isPerPod
    ? chooseNumaNodes(managers, podCpuHints(cpuPolicy, previousAssignments, pod))
    : undefined;
  if (podHint?.isAdmitted === false) {
    addCounts({ numaFailures: guaranteesAlignment });
    return refuse(TOPOLOGY_REFUSAL);
  }
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const { hint, isAdmitted } =
      podHint ?? chooseNumaNodes(managers, containerCpuHints(cpuPolicy, assignments, { pod, container }, reusable));
    if (!isAdmitted) {
      addCounts({ numaFailures: guaranteesAlignment });
      return refuse(TOPOLOGY_REFUSAL);
    }
    const isPinned = exclusiveCpuCount(pod.spec, container) > 0;
    const needsWholeCores = isPinned && cpuPolicy.options.fullPcpusOnly === true;
    addCounts({ pinningRequests: isPinned });
    const result = assignCpus(cpuPolicy, assignments, { pod, container }, { numaNodes: hint.nodes, reusable });
    if ('refusal' in result) {
      addCounts({ pinningErrors: 1, physicalCpuFailures: needsWholeCores });
      return refuse(withCause(result.refusal, container, assignments));
    }
    const { cpus, isInOneUncoreCache = false } = result;
    addCounts({
      physicalCpuAligned: needsWholeCores,
      uncoreCacheAligned: isInOneUncoreCache,
      numaAligned: guaranteesAlignment && podHint === undefined,
    });
    assignments = result.assignments;
    if (cpus !== undefined) reusable = nextReusableCpus(reusable, pod, container, cpus);
  }
  addCounts({ numaAligned: guaranteesAlignment && podHint !== undefined });
  return { assignments, counts };
}

type CountName = keyof typeof NO_COUNTS;

/** Amounts by which counts increase. True stands for 1. */
type CountChanges = Partial<Record<CountName, number | boolean>>;

function withCounts(counts: AllocationCounts, changes: CountChanges): AllocationCounts {
  const changedCounts = Object.entries(changes).map(([name, change]) => {
    // Safe cast, because the names are those of the counts.
    return [name, counts[name as CountName] + Number(change)] as const;
  });
  return { ...counts, ...Object.fromEntries(changedCounts) };
}

/** Chooses the NUMA nodes by the topology policy. Without a policy, all nodes are equally good. */
function chooseNumaNodes({ topologyPolicy, cpuPolicy: { topology } }: ResourceManagers, hints: ResourceHints) {
  if (topologyPolicy.name === 'none') {
    const hint: TopologyHint = { nodes: undefined, isPreferred: true };
    return { hint, isAdmitted: true };
  }
  const { numaDistances: distances } = topology;
  const numa = { ids: partsOf(topology.cpus, 'numaNode'), ...(distances === undefined ? {} : { distances }) };
  return mergeHints(topologyPolicy, numa, [hints]);
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
