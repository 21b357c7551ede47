/**
 * Assigns memory and huge pages of NUMA nodes to containers, like the kubelet's static memory manager policy
 * (`pkg/kubelet/cm/memorymanager/policy_static.go`).
 */
import type { Refusal } from '../admission/refusal.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { isHugePages } from '../api/validation/resources/resourceNames.ts';
import { NANOS_PER_UNIT, nanosOf } from '../api/values/quantity.ts';
import { allocationRefusal, hasPodResources } from '../cpus/cpuPolicy.ts';
import { type CpuSet, isSameSet } from '../cpus/cpuSet.ts';
import { isNarrower, nodeSetsOf, type ResourceHints, type TopologyHint } from '../cpus/topologyHints.ts';
import { qosClass } from '../resources/qos.ts';
import { namespacedName } from '../shownName.ts';
import {
  findMemory,
  type MemoryAssignment,
  type MemoryAssignments,
  type MemoryBlock,
  type MemoryNode,
  tableOf,
  withBlock,
  withoutBlock,
} from './memoryAssignments.ts';

/** Number of bytes that a container requests for each kind of memory. */
type MemoryRequests = readonly { readonly resource: string; readonly bytes: number }[];

/** The hints for each kind of memory, which are the same for all kinds. Empty if the container has no preference. */
export type MemoryHints = readonly ResourceHints[];

/** Memory of completed init containers that later containers of the pod can use. */
export type ReusableMemory = readonly MemoryBlock[];

interface PodContainer {
  readonly pod: Pod;
  readonly container: Container;
}

/** Whether the containers of a pod are assigned exclusive memory. */
export const hasOwnMemory = (spec: PodSpec): boolean => qosClass(spec) === 'Guaranteed' && !hasPodResources(spec);

/** Returns the memory and huge pages that a container requests, or undefined if an amount is not a number of bytes. */
function containerRequests({ resources: { requests = {} } = {} }: Container): MemoryRequests | undefined {
  const amounts = Object.entries(requests)
    .filter(([resource]) => resource === 'memory' || isHugePages(resource))
    .map(([resource, text]) => ({ resource, nanos: nanosOf(text) }));
  if (amounts.some(({ nanos }) => nanos % NANOS_PER_UNIT !== 0n)) return undefined;
  return amounts.map(({ resource, nanos }) => ({ resource, bytes: Number(nanos / NANOS_PER_UNIT) }));
}

const requestOf = (requests: MemoryRequests, resource: string): number =>
  requests.find((each) => each.resource === resource)?.bytes ?? 0;

/**
 * Returns the peak amount of memory that a pod needs, for each kind of memory that its regular containers request
 * (`getPodRequestedResources`).
 */
export function podMemoryRequests({ initContainers = [], containers }: PodSpec): MemoryRequests | undefined {
  const podContainers = [...initContainers, ...containers].map((container) => {
    return { container, requests: containerRequests(container) };
  });
  const regularRequests = podContainers.slice(initContainers.length);
  const resources = new Set(regularRequests.flatMap(({ requests = [] }) => requests.map(({ resource }) => resource)));
  if (podContainers.some(({ requests }) => requests === undefined)) return undefined;
  return [...resources].map((resource) => {
    let [sidecarBytes, initBytes] = [0, 0];
    for (const { container, requests = [] } of podContainers.slice(0, initContainers.length)) {
      const bytes = requestOf(requests, resource);
      if (isSidecar(container)) sidecarBytes += bytes;
      else initBytes = Math.max(initBytes, sidecarBytes + bytes);
    }
    const regularBytes = regularRequests.reduce((sum, { requests = [] }) => sum + requestOf(requests, resource), 0);
    return { resource, bytes: Math.max(initBytes, regularBytes + sidecarBytes) };
  });
}

/** Returns the topology hints for the memory of a container. */
export function containerMemoryHints(
  assignments: MemoryAssignments,
  { pod, container }: PodContainer,
  reusable: ReusableMemory,
): MemoryHints {
  const requests = containerRequests(container);
  if (!hasOwnMemory(pod.spec) || requests === undefined) return [];
  const existing = findMemory(assignments, pod.metadata.uid, container.name);
  return existing === undefined
    ? hintsPerResource(requests, memoryHints(assignments.nodes, requests, reusable))
    : hintsOfBlocks(existing, requests);
}

/** Returns the topology hints for the memory of a pod as a whole. */
export function podMemoryHints(assignments: MemoryAssignments, pod: Pod): MemoryHints {
  const requests = podMemoryRequests(pod.spec);
  if (!hasOwnMemory(pod.spec) || requests === undefined) return [];
  for (const { name } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const existing = findMemory(assignments, pod.metadata.uid, name);
    if (existing !== undefined) return hintsOfBlocks(existing, requests);
  }
  return hintsPerResource(requests, memoryHints(assignments.nodes, requests, []));
}

/**
 * Repeats the hints for each kind of memory. An empty list of hints means that there is no preference, as in the
 * kubelet.
 */
const hintsPerResource = (requests: MemoryRequests, hints: readonly TopologyHint[]): MemoryHints =>
  hints.length === 0 ? [] : requests.map(() => hints);

/**
 * Returns hints for the NUMA nodes on which a container already has memory. Returns no hints, i.e. no preference, if
 * the container now requests different amounts.
 */
function hintsOfBlocks({ blocks }: MemoryAssignment, requests: MemoryRequests): MemoryHints {
  const isUnchanged =
    blocks.length === requests.length &&
    blocks.every(({ resource, bytes }) =>
      requests.some((request) => request.resource === resource && request.bytes === bytes),
    );
  return isUnchanged ? blocks.map(({ numaNodes }) => [{ nodes: numaNodes, isPreferred: true }]) : [];
}

/**
 * Returns the sets of NUMA nodes with enough free memory of each kind. The smallest sets that would suffice on an empty
 * host are preferred. A node can hold either single-node blocks or the blocks of one group of nodes, but not both.
 */
function memoryHints(
  nodes: readonly MemoryNode[],
  requests: MemoryRequests,
  reusable: ReusableMemory,
): readonly TopologyHint[] {
  let minSize = nodes.length;
  const candidates: CpuSet[] = [];
  for (const ids of nodeSetsOf(nodes.map(({ id }) => id))) {
    const members = nodes.filter(({ id }) => ids.includes(id));
    if (requests.some(({ resource, bytes }) => sumOf(members, resource, 'allocatable') < bytes)) continue;
    minSize = Math.min(minSize, ids.length);
    if (ids.length === 1 && members.some(({ group }) => group.length > 1)) continue;
    if (isInUseOtherwise(members, ids)) continue;
    const hasRoom = requests.every(
      ({ resource, bytes }) => sumOf(members, resource, 'free') + reusableBytes(reusable, ids, resource) >= bytes,
    );
    if (hasRoom) candidates.push(ids);
  }
  return candidates.map((ids) => ({ nodes: ids, isPreferred: ids.length === minSize }));
}

const sumOf = (nodes: readonly MemoryNode[], resource: string, amount: 'allocatable' | 'free'): number =>
  nodes.reduce((sum, node) => sum + (tableOf(node, resource)?.[amount] ?? 0), 0);

/**
 * Whether any of the nodes already has blocks that span a set of nodes other than `ids`
 * (`isAffinityViolatingNUMAAllocations`).
 */
export const isInUseOtherwise = (members: readonly MemoryNode[], ids: CpuSet): boolean =>
  ids.length > 1 &&
  members.some(({ blockCount, group }) => blockCount > 0 && (group.length === 1 || !isSameSet(group, ids)));

const reusableBytes = (reusable: ReusableMemory, ids: CpuSet, resource: string): number =>
  reusable.find((each) => each.resource === resource && isSameSet(each.numaNodes, ids))?.bytes ?? 0;

/** Refusal of a container that cannot get memory. */
type MemoryRefusal = Pick<Refusal, 'reason' | 'message'>;

/** The result of an assignment to a container. */
export type MemoryResult =
  | {
      readonly assignments: MemoryAssignments;
      /** The memory of the container. Undefined if it has no exclusive memory. */
      readonly blocks?: readonly MemoryBlock[];
    }
  | { readonly refusal: MemoryRefusal };

/**
 * Assigns memory to a container. A container that already has memory retains it. `hint` contains the nodes that the
 * topology manager has chosen. `reusable` contains the memory of earlier containers of the pod that do not run at the
 * same time.
 */
export function assignMemory(
  assignments: MemoryAssignments,
  { pod, container }: PodContainer,
  { hint, reusable }: { readonly hint: TopologyHint; readonly reusable: ReusableMemory },
): MemoryResult {
  if (!hasOwnMemory(pod.spec)) return { assignments };
  const podUid = pod.metadata.uid;
  const existing = findMemory(assignments, podUid, container.name);
  const identity = { podUid, container: container.name, pod: namespacedName(pod) };
  if (existing !== undefined) {
    const containers = assignments.containers.map((each) => (each === existing ? { ...each, ...identity } : each));
    return {
      assignments: existing.pod === identity.pod ? assignments : { ...assignments, containers },
      blocks: existing.blocks,
    };
  }
  const requests = containerRequests(container);
  if (requests === undefined) return refusalResult('failed to represent quantity as int64');
  const choice = chooseNodes(assignments.nodes, requests, { hint, reusable });
  if ('problem' in choice) return refusalResult(choice.problem);
  const { ids } = choice;
  const blocks = requests.map(({ resource, bytes }) => ({ numaNodes: ids, resource, bytes }));
  const nodes = blocks.reduce<readonly MemoryNode[]>((nodesSoFar, block) => {
    const bytes = Math.max(0, block.bytes - reusableBytes(reusable, ids, block.resource));
    return withBlock(nodesSoFar, { ...block, bytes });
  }, assignments.nodes);
  const containers = assignments.containers.concat({ ...identity, blocks });
  return { assignments: { nodes, containers: withoutReused(containers, pod, container, blocks) }, blocks };
}

const refusalResult = (problem: string): MemoryResult => ({ refusal: allocationRefusal(`[memorymanager] ${problem}`) });

/** Chooses the nodes for a container: those of the hint if they have room, or else a larger set that contains them. */
function chooseNodes(
  nodes: readonly MemoryNode[],
  requests: MemoryRequests,
  { hint, reusable }: { readonly hint: TopologyHint; readonly reusable: ReusableMemory },
): { readonly ids: CpuSet } | { readonly problem: string } {
  let chosen = hint;
  if (chosen.nodes === undefined) {
    const hints = memoryHints(nodes, requests, reusable);
    const best = bestMemoryHint(hints);
    if (best === undefined) {
      return { problem: 'failed to get the default NUMA affinity, no NUMA nodes with enough memory is available' };
    }
    if (!best.isPreferred && chosen.isPreferred) return { problem: 'failed to find the default preferred hint' };
    chosen = best;
  }
  const chosenIds = chosen.nodes ?? [];
  const members = nodes.filter(({ id }) => chosenIds.includes(id));
  if (requests.some(({ resource, bytes }) => sumOf(members, resource, 'free') < bytes)) {
    const largerHints = memoryHints(nodes, requests, reusable).filter(({ nodes: ids = [] }) =>
      chosenIds.every((id) => ids.includes(id)),
    );
    const best = bestMemoryHint(largerHints);
    if (best === undefined) return { problem: 'failed to find NUMA nodes to extend the current topology hint' };
    if (!best.isPreferred && chosen.isPreferred) return { problem: 'failed to find the extended preferred hint' };
    chosen = best;
  }
  const ids = chosen.nodes ?? [];
  const isViolating = isInUseOtherwise(
    nodes.filter(({ id }) => ids.includes(id)),
    ids,
  );
  return isViolating ? { problem: 'preferred hint violates NUMA node allocation' } : { ids };
}

/** Returns the narrowest of the preferred hints or, if none is preferred, of all hints (`findBestHint`). */
function bestMemoryHint(hints: readonly TopologyHint[]): TopologyHint | undefined {
  let best: TopologyHint | undefined;
  for (const hint of hints) {
    const isBetter =
      best === undefined ||
      (hint.isPreferred !== best.isPreferred ? hint.isPreferred : isNarrower(hint.nodes ?? [], best.nodes ?? []));
    if (isBetter) best = hint;
  }
  return best;
}

/**
 * Reduces the blocks of earlier init containers by the memory that a container reuses, so that the blocks of a pod add
 * up to the memory that it has (`updateInitContainersMemoryBlocks`).
 */
function withoutReused(
  containers: readonly MemoryAssignment[],
  { metadata: { uid }, spec: { initContainers = [] } }: Pod,
  container: Container,
  blocks: readonly MemoryBlock[],
): readonly MemoryAssignment[] {
  const position = initContainers.findIndex(({ name }) => name === container.name);
  const earlierNames = initContainers
    .slice(0, position < 0 ? initContainers.length : position)
    .filter((each) => !isSidecar(each))
    .map(({ name }) => name);
  const remaining = blocks.map(({ bytes }) => bytes);
  const reduced = new Map<string, readonly MemoryBlock[]>();
  for (const name of earlierNames) {
    const { blocks: initBlocks = [] } = containers.find((each) => each.podUid === uid && each.container === name) ?? {};
    reduced.set(
      name,
      initBlocks.map((initBlock) => {
        const index = blocks.findIndex(
          ({ resource, numaNodes }) => resource === initBlock.resource && isSameSet(numaNodes, initBlock.numaNodes),
        );
        if (index < 0) return initBlock;
        const reusedBytes = Math.min(initBlock.bytes, remaining[index] ?? 0);
        remaining[index] = (remaining[index] ?? 0) - reusedBytes;
        return { ...initBlock, bytes: initBlock.bytes - reusedBytes };
      }),
    );
  }
  return containers.map((each) => {
    const reducedBlocks = each.podUid === uid ? reduced.get(each.container) : undefined;
    return reducedBlocks === undefined ? each : { ...each, blocks: reducedBlocks };
  });
}

/**
 * Returns the memory that later containers of the pod can reuse, once `container` has been assigned `blocks`. This is
 * the memory of init containers, which will have completed by then. A sidecar's memory cannot be reused
 * (`updatePodReusableMemory`).
 */
export function nextReusableMemory(
  reusable: ReusableMemory,
  { pod, container }: PodContainer,
  blocks: readonly MemoryBlock[],
): ReusableMemory {
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) ?? false;
  const isAdded = isInit && !isSidecar(container);
  let next = reusable;
  for (const block of blocks) {
    const isSameKind = ({ resource, numaNodes }: MemoryBlock) =>
      resource === block.resource && isSameSet(numaNodes, block.numaNodes);
    const previousBytes = next.find(isSameKind)?.bytes ?? 0;
    const bytes = isAdded ? Math.max(previousBytes, block.bytes) : Math.max(0, previousBytes - block.bytes);
    if (bytes === previousBytes) continue;
    next = [...next.filter((each) => !isSameKind(each)), { ...block, bytes }];
  }
  return next;
}

/**
 * Releases the memory of all containers for which `isReleased` returns true. Returns the same object if there are no
 * such containers.
 */
export function releaseMemory(
  assignments: MemoryAssignments,
  isReleased: (assignment: MemoryAssignment) => boolean,
): MemoryAssignments {
  const releasedBlocks = assignments.containers.filter(isReleased).flatMap(({ blocks }) => blocks);
  const containers = assignments.containers.filter((each) => !isReleased(each));
  if (containers.length === assignments.containers.length) return assignments;
  return { nodes: releasedBlocks.reduce(withoutBlock, assignments.nodes), containers };
}
