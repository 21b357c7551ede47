/**
 * Merges the NUMA preferences of a container's resources, like the kubelet's topology manager
 * (`pkg/kubelet/cm/topologymanager`).
 */
import { lookUp } from '../../base/values/lookUp.ts';
import { type CpuSet, cpuSetOf, intersectionOf, isSameSet, NO_CPUS } from './cpuSet.ts';

export const TOPOLOGY_POLICIES = ['best-effort', 'restricted', 'single-numa-node'] as const;

export type TopologyPolicyName = (typeof TOPOLOGY_POLICIES)[number];

export interface TopologyPolicy {
  readonly name: TopologyPolicyName;
  /** Whether the NUMA nodes of a pod are chosen for all of its containers together. */
  readonly isPerPod: boolean;
  /** Whether NUMA nodes that are close to each other are preferred to those with low numbers. */
  readonly prefersClosest: boolean;
}

/** A set of NUMA nodes that can provide a resource. */
export interface TopologyHint {
  /** Undefined if any NUMA node is as good as another. */
  readonly nodes: CpuSet | undefined;
  /** Whether the resource cannot be provided by fewer nodes. */
  readonly isPreferred: boolean;
}

/**
 * The hints for one resource. Undefined if the resource has no preference, and empty if no set of nodes can provide it.
 */
export type ResourceHints = readonly TopologyHint[] | undefined;

export interface NumaNodes {
  /** IDs of all nodes, including those without CPUs. */
  readonly ids: CpuSet;
  /** Distances from each node to the others by ID, as in the kernel's `distance` files. */
  readonly distances?: Readonly<Record<string, readonly number[]>>;
}

/** The topology policy and the NUMA nodes of the host, from which it chooses. */
export interface TopologyManager {
  readonly policy: TopologyPolicy;
  readonly numaNodes: NumaNodes;
}

export interface MergedHint {
  readonly hint: TopologyHint;
  /** Whether the policy admits the container with this hint. */
  readonly isAdmitted: boolean;
}

/** Chooses the NUMA nodes for a container, or for a pod, based on the hints for each of its resources. */
export function mergeHints(policy: TopologyPolicy, numa: NumaNodes, resources: readonly ResourceHints[]): MergedHint {
  const isSingleNumaNode = policy.name === 'single-numa-node';
  const alternatives = resources
    .map(alternativesFor)
    .map((hints) => (isSingleNumaNode ? hints.filter(isOnOneNode) : hints));
  const best = bestHint(alternatives, numa, policy);
  const hint =
    isSingleNumaNode && best.nodes !== undefined && isSameSet(best.nodes, numa.ids)
      ? { nodes: undefined, isPreferred: best.isPreferred }
      : best;
  return { hint, isAdmitted: policy.name === 'best-effort' || hint.isPreferred };
}

function alternativesFor(hints: ResourceHints): readonly TopologyHint[] {
  if (hints === undefined) return [{ nodes: undefined, isPreferred: true }];
  return hints.length === 0 ? [{ nodes: undefined, isPreferred: false }] : hints;
}

const isOnOneNode = ({ nodes, isPreferred }: TopologyHint): boolean =>
  isPreferred && (nodes === undefined || nodes.length === 1);

/** Returns the best of all combinations of one hint per resource. */
function bestHint(
  alternatives: readonly (readonly TopologyHint[])[],
  numa: NumaNodes,
  policy: TopologyPolicy,
): TopologyHint {
  const ranking = { numa, policy, minNodeCount: requiredNodeCount(alternatives) };
  let best: NodesHint | undefined;
  for (const { nodes, isPreferred } of combinationsOf(alternatives, numa.ids)) {
    const mergedHint = { nodes, isPreferred };
    if (nodes.length > 0 && (best === undefined || isBetterHint(mergedHint, best, ranking))) best = mergedHint;
  }
  return best ?? { nodes: numa.ids, isPreferred: false };
}

interface Combination extends NodesHint {
  /**
   * The NUMA nodes of the first hint that names any. The combination is preferred only if all later hints name the same
   * nodes. Undefined if no hint so far names any.
   */
  readonly commonNodes: CpuSet | undefined;
}

/**
 * Returns the different results of combining one hint per resource, in the order in which they first appear. Duplicates
 * are dropped after each resource, because the number of combinations would otherwise grow exponentially with the
 * number of resources.
 */
function combinationsOf(alternatives: readonly (readonly TopologyHint[])[], allNodes: CpuSet): Iterable<Combination> {
  let combinations = new Map<string, Combination>();
  combinations.set('', { nodes: allNodes, isPreferred: true, commonNodes: undefined });
  for (const hints of alternatives) {
    const nextCombinations = new Map<string, Combination>();
    for (const combination of combinations.values()) {
      for (const hint of hints) {
        const next = withHint(combination, hint);
        // Ignore `commonNodes` in the key of an unpreferred combination, because further hints cannot make it
        // preferred.
        const key = `${next.nodes.join()} ${next.isPreferred ? (next.commonNodes?.join() ?? 'any') : 'unpreferred'}`;
        if (!nextCombinations.has(key)) nextCombinations.set(key, next);
      }
    }
    combinations = nextCombinations;
  }
  return combinations.values();
}

/**
 * Adds a hint to a combination. The result is preferred if all hints are preferred and name the same nodes
 * (`mergePermutation` in `topologymanager/policy.go`).
 */
function withHint({ nodes, isPreferred, commonNodes }: Combination, hint: TopologyHint): Combination {
  if (hint.nodes === undefined) return { nodes, isPreferred: isPreferred && hint.isPreferred, commonNodes };
  const isSame = commonNodes === undefined || isSameSet(commonNodes, hint.nodes);
  return {
    nodes: intersectionOf(nodes, hint.nodes),
    isPreferred: isPreferred && hint.isPreferred && isSame,
    commonNodes: commonNodes ?? hint.nodes,
  };
}

interface NodesHint extends TopologyHint {
  readonly nodes: CpuSet;
}

/** Returns the number of nodes that the most demanding resource needs. */
function requiredNodeCount(alternatives: readonly (readonly TopologyHint[])[]): number {
  const minCounts = alternatives.map((hints) => {
    const counts = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes.length]));
    return counts.length === 0 ? 0 : Math.min(...counts);
  });
  return Math.max(0, ...minCounts);
}

interface Ranking {
  readonly numa: NumaNodes;
  readonly policy: TopologyPolicy;
  readonly minNodeCount: number;
}

/** Whether a hint is better than the best one so far (`HintMerger.compare` in `topologymanager/policy.go`). */
function isBetterHint(candidate: NodesHint, best: NodesHint, ranking: Ranking): boolean {
  if (candidate.isPreferred !== best.isPreferred) return candidate.isPreferred;
  if (candidate.isPreferred) return hasBetterNodes(candidate, best, ranking);
  const [candidateCount, bestCount, { minNodeCount }] = [candidate.nodes.length, best.nodes.length, ranking];
  if (bestCount > minNodeCount) return hasBetterNodes(candidate, best, ranking);
  if (bestCount === minNodeCount) return candidateCount === minNodeCount && hasBetterNodes(candidate, best, ranking);
  if (candidateCount > minNodeCount) return false;
  if (candidateCount === minNodeCount) return true;
  if (candidateCount !== bestCount) return candidateCount > bestCount;
  return hasBetterNodes(candidate, best, ranking);
}

function hasBetterNodes({ nodes }: NodesHint, { nodes: best }: NodesHint, { numa, policy }: Ranking): boolean {
  if (isSameSet(nodes, best)) return false;
  if (policy.prefersClosest && policy.name !== 'single-numa-node' && nodes.length === best.length) {
    const difference = meanDistance(nodes, numa) - meanDistance(best, numa);
    if (difference !== 0) return difference < 0;
  }
  return isNarrower(nodes, best);
}

/** Whether the first set has fewer nodes than the second or, if they have equally many, lower ones. */
export const isNarrower = (first: CpuSet, second: CpuSet): boolean =>
  first.length === second.length ? isLower(first, second) : first.length < second.length;

/**
 * Whether the first of two sets of the same size is lower, i.e. the highest number that is in only one of them is in
 * the second.
 */
function isLower(first: CpuSet, second: CpuSet): boolean {
  for (let index = first.length - 1; index >= 0; index -= 1) {
    const difference = (first[index] ?? 0) - (second[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Returns the mean of the distances between all pairs of nodes, including each node's distance to itself. */
function meanDistance(nodes: CpuSet, { distances = {} }: NumaNodes): number {
  const sum = nodes.reduce(
    (total, from) => nodes.reduce((subtotal, to) => subtotal + (lookUp(distances, String(from))?.[to] ?? 0), total),
    0,
  );
  return sum / nodes.length ** 2;
}

/** Returns all non-empty sets of these nodes, ordered by size, then lexically (`IterateBitMasks`). */
export function nodeSetsOf(nodes: CpuSet): CpuSet[] {
  const nodeSetsBySize: CpuSet[] = [NO_CPUS];
  for (const node of nodes) nodeSetsBySize.push(...nodeSetsBySize.map((set) => cpuSetOf(set.concat(node))));
  return nodeSetsBySize.filter((set) => set.length > 0).sort((a, b) => a.length - b.length || compareLexically(a, b));
}

function compareLexically(first: CpuSet, second: CpuSet): number {
  for (const [index, each] of first.entries()) {
    const difference = each - (second[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
