/**
 * Assigns exclusive CPUs to containers, like the kubelet's static CPU manager policy
 * (`pkg/kubelet/cm/cpumanager/policy_static.go`).
 */

import type { Refusal } from '../admission/refusal.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { qosClass } from '../resources/qos.ts';
import { amountOf } from '../resources/resources.ts';
import { namespacedName } from '../shownName.ts';
import { type CpuSet, cpuSetOf, formatCpuSet, intersectionOf, isSameSet, NO_CPUS, unionOf, without } from './cpuSet.ts';
import { allCpus, type CpuTopology, cpusIn, cpusPerCore, isInOneUncoreCache, partsOf } from './cpuTopology.ts';
import { type TakenCpus, takeDistributed, takePacked } from './takeCpus.ts';
import { nodeSetsOf, type ResourceHints } from './topologyHints.ts';

/** Options of the static policy. */
export interface CpuPolicyOptions {
  readonly fullPcpusOnly?: boolean;
  readonly strictCpuReservation?: boolean;
  readonly preferAlignCpusByUncoreCache?: boolean;
  readonly distributeCpusAcrossNuma?: boolean;
  readonly alignBySocket?: boolean;
  readonly distributeCpusAcrossCores?: boolean;
}

export interface CpuPolicy {
  readonly topology: CpuTopology;
  readonly options: CpuPolicyOptions;
  /** CPUs that are never assigned exclusively. */
  readonly reserved: CpuSet;
}

/** The exclusive CPUs of a container. */
export interface CpuAssignment {
  readonly podUid: string;
  readonly container: string;
  readonly cpus: CpuSet;
  /**
   * Namespace and name of the pod. Undefined for an assignment from an earlier run of the agent until the pod is
   * admitted again.
   */
  readonly pod?: string;
}

/** The CPUs of the host, divided into shared and exclusive ones. */
export interface CpuAssignments {
  /** The CPUs that all containers without exclusive CPUs share. */
  readonly shared: CpuSet;
  readonly exclusive: readonly CpuAssignment[];
}

/**
 * Creates the static policy. `reservedMillis` is the reserved amount in millicores. `reservedCpus` contains the CPUs
 * that the configuration reserves by number, and is empty if the configuration reserves only an amount. Throws an error
 * with the kubelet's message if the policy cannot start.
 */
export function createCpuPolicy(
  topology: CpuTopology,
  options: CpuPolicyOptions,
  { reservedMillis, reservedCpus }: { readonly reservedMillis: number; readonly reservedCpus: CpuSet },
): CpuPolicy {
  if (reservedMillis === 0) {
    throw new Error(
      '[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero',
    );
  }
  const count = Math.ceil(reservedMillis / 1_000);
  const policy = { topology, options, reserved: reservedCpus };
  const reservation = reservedCpus.length > 0 ? { cpus: reservedCpus } : takeCpus(policy, allCpus(topology), count);
  const reserved = 'cpus' in reservation ? reservation.cpus : NO_CPUS;
  if (reserved.length !== count) {
    throw new Error(
      `new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of ${formatCpuSet(reserved)} did not equal ${count})`,
    );
  }
  const [unknownCpu] = without(reserved, allCpus(topology));
  if (unknownCpu !== undefined) {
    throw new Error(
      `new static policy error: [cpumanager] unable to build the reserved physical CPUs from the reserved set: unknown CPU ID: ${unknownCpu}`,
    );
  }
  return { ...policy, reserved };
}

/** Returns the assignments of a host without containers. */
export const initialAssignments = ({ topology, options, reserved }: CpuPolicy): CpuAssignments => ({
  shared: options.strictCpuReservation ? without(allCpus(topology), reserved) : allCpus(topology),
  exclusive: [],
});

/**
 * Returns the kubelet's message about persisted assignments that contradict the policy or the host (`validateState`).
 * Returns undefined if there is no contradiction.
 */
export function assignmentsProblem(policy: CpuPolicy, { shared, exclusive }: CpuAssignments): string | undefined {
  const { topology, options, reserved } = policy;
  if (shared.length === 0) return exclusive.length > 0 ? 'default cpuset cannot be empty' : undefined;
  const sharedReserved = intersectionOf(reserved, shared);
  if (options.strictCpuReservation && sharedReserved.length > 0)
    return `some of strictly reserved cpus: "${formatCpuSet(sharedReserved)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`;
  if (!options.strictCpuReservation && sharedReserved.length < reserved.length)
    return `not all reserved cpus: "${formatCpuSet(reserved)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`;
  const overlappingAssignment = exclusive.find(({ cpus }) => intersectionOf(cpus, shared).length > 0);
  if (overlappingAssignment !== undefined) {
    const { podUid, container, cpus } = overlappingAssignment;
    return `pod: ${podUid}, container: ${container} cpuset: "${formatCpuSet(cpus)}" overlaps with default cpuset "${formatCpuSet(shared)}"`;
  }
  const knownCpus = unionOf(shared, ...exclusive.map(({ cpus }) => cpus));
  return isSameSet(knownCpus, allCpus(topology))
    ? undefined
    : `current set of available CPUs "${formatCpuSet(allCpus(topology))}" doesn't match with CPUs in state "${formatCpuSet(knownCpus)}"`;
}

export const findAssignment = (
  { exclusive }: CpuAssignments,
  podUid: string,
  container: string,
): CpuAssignment | undefined => exclusive.find((each) => each.podUid === podUid && each.container === container);

/** Returns the CPUs that containers may get exclusively, regardless of whether they are currently assigned. */
export const allocatableCpus = ({ topology, reserved }: CpuPolicy): CpuSet => without(allCpus(topology), reserved);

/** Returns the CPUs that containers can still get exclusively. */
export const availableCpus = ({ reserved }: CpuPolicy, { shared }: CpuAssignments): CpuSet => without(shared, reserved);

/** Returns the number of exclusive CPUs that a container of a pod gets. */
export function exclusiveCpuCount(spec: PodSpec, { resources }: Container): number {
  if (qosClass(spec) !== 'Guaranteed' || hasPodResources(spec)) return 0;
  const millis = amountOf(resources, 'requests', 'cpu');
  return millis % 1_000 === 0 ? millis / 1_000 : 0;
}

/**
 * Whether the pod has pod-level resources, in which case the kubelet assigns neither exclusive CPUs nor NUMA memory to
 * its containers.
 */
export const hasPodResources = ({ resources: { requests = {}, limits = {} } = {} }: PodSpec): boolean =>
  Object.keys(requests).length + Object.keys(limits).length > 0;

/** Returns the maximum number of exclusive CPUs that a pod needs at any one time (`podGuaranteedCPUs`). */
function podExclusiveCpuCount(pod: Pod): number {
  const { initContainers = [], containers } = pod.spec;
  let sidecarCount = 0;
  let initCount = 0;
  for (const container of initContainers) {
    const count = exclusiveCpuCount(pod.spec, container);
    if (isSidecar(container)) sidecarCount += count;
    else initCount = Math.max(initCount, sidecarCount + count);
  }
  const regularCount = containers.reduce((sum, container) => sum + exclusiveCpuCount(pod.spec, container), 0);
  return Math.max(initCount, regularCount + sidecarCount);
}

/** Refusal of a container that cannot get exclusive CPUs. */
type CpuRefusal = Pick<Refusal, 'reason' | 'message'>;

/** The result of an assignment to a container. */
export type CpuResult =
  | {
      readonly assignments: CpuAssignments;
      /** The exclusive CPUs of the container. Undefined if it uses the shared CPUs. */
      readonly cpus?: CpuSet;
      /** Whether the CPUs share one last-level cache. */
      readonly isInOneUncoreCache?: boolean;
    }
  | { readonly refusal: CpuRefusal };

/**
 * Assigns CPUs to a container. A container that already has CPUs retains them. `reusable` contains the CPUs of earlier
 * containers of the pod, which will have completed before this container starts. `numaNodes` are the NUMA nodes that
 * the topology manager has chosen.
 */
export function assignCpus(
  policy: CpuPolicy,
  assignments: CpuAssignments,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
  { numaNodes, reusable }: { readonly numaNodes: CpuSet | undefined; readonly reusable: CpuSet },
): CpuResult {
  const count = exclusiveCpuCount(pod.spec, container);
  if (count === 0) return { assignments };
  const alignmentRefusal = smtRefusal(policy, assignments, count);
  if (alignmentRefusal !== undefined) return { refusal: alignmentRefusal };
  const podUid = pod.metadata.uid;
  const existingAssignment = findAssignment(assignments, podUid, container.name);
  const containerIdentity = { podUid, container: container.name, pod: namespacedName(pod) };
  if (existingAssignment !== undefined) {
    const exclusive = assignments.exclusive.map((each) =>
      each === existingAssignment ? { ...each, ...containerIdentity } : each,
    );
    return {
      assignments: existingAssignment.pod === containerIdentity.pod ? assignments : { ...assignments, exclusive },
      cpus: existingAssignment.cpus,
    };
  }
  const candidateCpus = unionOf(availableCpus(policy, assignments), reusable);
  const alignedCandidates = numaNodes === undefined ? NO_CPUS : alignedCpus(policy, numaNodes, candidateCpus);
  const alignedResult = takeCpus(policy, alignedCandidates, Math.min(count, alignedCandidates.length));
  if ('problem' in alignedResult) return { refusal: allocationRefusal(alignedResult.problem) };
  const remainderResult = takeCpus(
    policy,
    without(candidateCpus, alignedResult.cpus),
    count - alignedResult.cpus.length,
  );
  if ('problem' in remainderResult) return { refusal: allocationRefusal(remainderResult.problem) };
  const cpus = unionOf(alignedResult.cpus, remainderResult.cpus);
  return {
    assignments: {
      shared: without(assignments.shared, cpus),
      exclusive: assignments.exclusive.concat({ ...containerIdentity, cpus }),
    },
    cpus,
    isInOneUncoreCache: isInOneUncoreCache(policy.topology, cpus),
  };
}

/** Returns the refusal of a container whose devices, CPUs or memory could not be allocated (`cm/admission/errors.go`). */
export const allocationRefusal = (problem: string): CpuRefusal => ({
  reason: 'UnexpectedAdmissionError',
  message: `Allocate failed due to ${problem}, which is unexpected`,
});

/** Returns the refusal of a container that would share a core although the option full-pcpus-only forbids sharing. */
function smtRefusal(policy: CpuPolicy, assignments: CpuAssignments, count: number): CpuRefusal | undefined {
  const { topology, options, reserved } = policy;
  if (!options.fullPcpusOnly) return undefined;
  const groupSize = cpusPerCore(topology);
  const reason = 'SMTAlignmentError';
  if (count % groupSize !== 0)
    return {
      reason,
      message: `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${groupSize}`,
    };
  const reservedCores = partsOf(
    topology.cpus.filter(({ cpu }) => reserved.includes(cpu)),
    'core',
  );
  const available = without(assignments.shared, cpusIn(topology.cpus, 'core', reservedCores));
  if (count <= available.length) return undefined;
  return {
    reason,
    message: `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${available.length}, requested CPUs = ${count}, CPUs per core = ${groupSize}`,
  };
}

/** Returns the available CPUs on these NUMA nodes or, with align-by-socket, on their sockets. */
function alignedCpus({ topology, options }: CpuPolicy, numaNodes: CpuSet, available: CpuSet): CpuSet {
  const cpusOnNodes = cpusIn(topology.cpus, 'numaNode', numaNodes);
  if (!options.alignBySocket) return intersectionOf(available, cpusOnNodes);
  const sockets = partsOf(
    topology.cpus.filter(({ numaNode }) => numaNodes.includes(numaNode)),
    'socket',
  );
  return intersectionOf(available, cpusIn(topology.cpus, 'socket', sockets));
}

function takeCpus({ topology, options }: CpuPolicy, available: CpuSet, count: number): TakenCpus {
  const isSpreadOverCores = options.distributeCpusAcrossCores ?? false;
  if (options.distributeCpusAcrossNuma) {
    const groupSize = options.fullPcpusOnly ? cpusPerCore(topology) : 1;
    return takeDistributed(topology, available, { count, groupSize }, { isSpreadOverCores });
  }
  const prefersUncoreCaches = options.preferAlignCpusByUncoreCache ?? false;
  return takePacked(topology, available, count, { isSpreadOverCores, prefersUncoreCaches });
}

/**
 * Returns the CPUs that later containers of the pod can reuse, once `container` has been assigned `cpus`. These are the
 * CPUs of init containers, which will have completed by then. A sidecar's CPUs cannot be reused.
 */
export function nextReusableCpus(reusable: CpuSet, pod: Pod, container: Container, cpus: CpuSet): CpuSet {
  const isInit = pod.spec.initContainers?.includes(container) ?? false;
  return isInit && !isSidecar(container) ? unionOf(reusable, cpus) : without(reusable, cpus);
}

/**
 * Releases the CPUs of all containers for which `isReleased` returns true. Returns the same object if there are no such
 * containers.
 */
export function releaseCpus(
  assignments: CpuAssignments,
  isReleased: (assignment: CpuAssignment) => boolean,
): CpuAssignments {
  const releasedAssignments = assignments.exclusive.filter(isReleased);
  if (releasedAssignments.length === 0) return assignments;
  const exclusive = assignments.exclusive.filter((each) => !isReleased(each));
  // Do not free CPUs that a remaining assignment contains. Containers of a pod can have the same CPUs, because init
  // containers have completed when the others start.
  const freeCpus = without(
    unionOf(...releasedAssignments.map(({ cpus }) => cpus)),
    cpuSetOf(exclusive.flatMap(({ cpus }) => cpus)),
  );
  return { shared: unionOf(assignments.shared, freeCpus), exclusive };
}

/** Returns the topology hints for the exclusive CPUs of a container. */
export function containerCpuHints(
  policy: CpuPolicy,
  assignments: CpuAssignments,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
  reusable: CpuSet,
): ResourceHints {
  const count = exclusiveCpuCount(pod.spec, container);
  if (count === 0) return undefined;
  const existingAssignment = findAssignment(assignments, pod.metadata.uid, container.name);
  if (existingAssignment === undefined)
    return cpuHints(policy, { available: availableCpus(policy, assignments), reusable, count });
  return existingAssignment.cpus.length === count
    ? cpuHints(policy, { available: existingAssignment.cpus, reusable: NO_CPUS, count })
    : [];
}

/** Returns the topology hints for the exclusive CPUs of a pod as a whole. */
export function podCpuHints(policy: CpuPolicy, assignments: CpuAssignments, pod: Pod): ResourceHints {
  const count = podExclusiveCpuCount(pod);
  if (count === 0) return undefined;
  let assignedCpus: CpuSet = NO_CPUS;
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const existingAssignment = findAssignment(assignments, pod.metadata.uid, container.name);
    if (existingAssignment === undefined) continue;
    if (existingAssignment.cpus.length !== exclusiveCpuCount(pod.spec, container)) return [];
    assignedCpus = unionOf(assignedCpus, existingAssignment.cpus);
  }
  return assignedCpus.length === count
    ? cpuHints(policy, { available: assignedCpus, reusable: NO_CPUS, count })
    : cpuHints(policy, { available: availableCpus(policy, assignments), reusable: assignedCpus, count });
}

/**
 * Returns the sets of NUMA nodes that contain all reusable CPUs and enough available ones. The preferred sets are those
 * of the smallest size that could provide the CPUs on an idle host, even if no set of that size currently has enough
 * free CPUs.
 */
function cpuHints(
  policy: CpuPolicy,
  { available, reusable, count }: { readonly available: CpuSet; readonly reusable: CpuSet; readonly count: number },
): ResourceHints {
  const { topology, options } = policy;
  const numaNodes = partsOf(topology.cpus, 'numaNode');
  const nodeByCpu = new Map(topology.cpus.map(({ cpu, numaNode }) => [cpu, numaNode]));
  const countCpusOn = (cpus: CpuSet, nodes: CpuSet) =>
    cpus.filter((cpu) => nodes.includes(nodeByCpu.get(cpu) ?? -1)).length;
  const nodeSets = nodeSetsOf(numaNodes);
  const minSize = Math.min(
    numaNodes.length,
    ...nodeSets
      .filter((nodes) => cpusIn(topology.cpus, 'numaNode', nodes).length >= count)
      .map((nodes) => nodes.length),
  );
  return nodeSets
    .filter(
      (nodes) =>
        countCpusOn(reusable, nodes) === reusable.length && reusable.length + countCpusOn(available, nodes) >= count,
    )
    .map((nodes) => ({
      nodes,
      isPreferred:
        nodes.length === minSize || (options.alignBySocket === true && isSocketAligned(topology, nodes, minSize)),
    }));
}

/** Whether a set of NUMA nodes spans no more sockets than the smallest possible set. */
function isSocketAligned({ cpus, socketCount }: CpuTopology, nodes: CpuSet, minSize: number): boolean {
  const nodesPerSocket = Math.trunc(partsOf(cpus, 'numaNode').length / socketCount);
  if (nodesPerSocket === 0) return false;
  const sockets = partsOf(
    cpus.filter(({ numaNode }) => nodes.includes(numaNode)),
    'socket',
  );
  return sockets.length === Math.ceil(minSize / nodesPerSocket);
}
