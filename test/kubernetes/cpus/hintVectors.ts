/** The kubelet's choices of NUMA nodes (`pkg/kubelet/cm/topologymanager/policy_test.go`). */

/**
 * A hint is a list of NUMA nodes, `all` or `any`, with `!` if it is preferred. A resource is a list of hints, or null
 * without a preference.
 */
export interface HintVector {
  readonly title: string;
  readonly resources: readonly (string | null)[];
  readonly merged: string;
}

/** The hints for which all policies have the same result. */
export const commonHints: readonly HintVector[] = [
  { title: 'Two providers, 1 hint each, same mask, both preferred 1/2', resources: ['0!', '0!'], merged: '0!' },
  { title: 'Two providers, 1 hint each, same mask, both preferred 2/2', resources: ['1!', '1!'], merged: '1!' },
  { title: 'Two providers, 1 no hints, 1 single hint preferred 1/2', resources: [null, '0!'], merged: '0!' },
  { title: 'Two providers, 1 no hints, 1 single hint preferred 2/2', resources: [null, '1!'], merged: '1!' },
  { title: 'Two providers, 1 with 2 hints, 1 with single hint matching 1/2', resources: ['0! 1!', '0!'], merged: '0!' },
  { title: 'Two providers, 1 with 2 hints, 1 with single hint matching 2/2', resources: ['0! 1!', '1!'], merged: '1!' },
  {
    title: 'Two providers, both with 2 hints, matching narrower preferred hint from both',
    resources: ['0! 1!', '0! 0,1'],
    merged: '0!',
  },
  {
    title: 'Ensure less narrow preferred hints are chosen over narrower non-preferred hints',
    resources: ['1! 0,1', '0! 1! 0,1'],
    merged: '1!',
  },
  { title: 'Multiple resources, same provider', resources: ['1! 0,1', '0! 1! 0,1'], merged: '1!' },
];

/** Hints for the policies best-effort and restricted. */
export const bestEffortHints: readonly HintVector[] = [
  {
    title: 'Two providers, 2 hints each, same mask (some with different bits), same preferred',
    resources: ['0,1! 0,2!', '0,1! 0,2!'],
    merged: '0,1!',
  },
  { title: 'TopologyHint not set', resources: [], merged: 'all!' },
  { title: 'HintProvider returns empty non-nil map[string][]TopologyHint', resources: [null], merged: 'all!' },
  { title: 'HintProvider returns -nil map[string][]TopologyHint from provider', resources: [null], merged: 'all!' },
  {
    title: 'HintProvider returns empty non-nil map[string][]TopologyHint from provider',
    resources: [''],
    merged: 'all',
  },
  {
    title: 'Single TopologyHint with Preferred as true and NUMANodeAffinity as nil',
    resources: ['any!'],
    merged: 'all!',
  },
  {
    title: 'Single TopologyHint with Preferred as false and NUMANodeAffinity as nil',
    resources: ['any'],
    merged: 'all',
  },
  { title: 'Two providers, 1 hint each, no common mask', resources: ['0!', '1!'], merged: 'all' },
  { title: 'Two providers, 1 hint each, same mask, 1 preferred, 1 not 1/2', resources: ['0!', '0'], merged: '0' },
  { title: 'Two providers, 1 hint each, same mask, 1 preferred, 1 not 2/2', resources: ['1!', '1'], merged: '1' },
  { title: 'Two providers, 1 hint each, 1 wider mask, both preferred 1/2', resources: ['0!', '0,1!'], merged: '0' },
  {
    title: 'Two providers, 1 with 2 hints, 1 with single non-preferred hint matching',
    resources: ['0! 1!', '0,1'],
    merged: '0',
  },
  { title: 'Two providers, 1 hint each, 1 wider mask, both preferred 2/2', resources: ['1!', '0,1!'], merged: '1' },
  { title: 'bestNonPreferredAffinityCount (1)', resources: ['0,1,2,3 0,1', '0,1'], merged: '0,1' },
  { title: 'bestNonPreferredAffinityCount (2)', resources: ['0,1,2,3 0,1', '0,3'], merged: '0,3' },
  { title: 'bestNonPreferredAffinityCount (3)', resources: ['0,1,2,3 0,1', '1,2'], merged: '1,2' },
  { title: 'bestNonPreferredAffinityCount (4)', resources: ['0,1,2,3 0,1', '2,3'], merged: '2,3' },
];

/** Hints for the policies best-effort and restricted without options, on a host with four NUMA nodes. */
export const narrowestHints: readonly HintVector[] = [
  { title: 'bestNonPreferredAffinityCount (5)', resources: ['0,1,2,3 0,1', '1,2 2,3'], merged: '1,2' },
  { title: 'bestNonPreferredAffinityCount (6)', resources: ['0,1,2,3 0,1', '1,2,3 1,2 1,3 2,3'], merged: '1,2' },
];

/** Hints for the option prefer-closest-numa-nodes, on a host with eight NUMA nodes. */
export const closestHints: readonly HintVector[] = [
  {
    title: 'Two providers, 2 hints each, same mask (some with different bits), same preferred',
    resources: ['0,4! 0,2!', '0,4! 0,2!'],
    merged: '0,2!',
  },
  { title: 'Two providers, 2 hints each, different mask', resources: ['4! 0,2!', '4! 0,2!'], merged: '4!' },
  { title: 'bestNonPreferredAffinityCount (5)', resources: ['0,1,2,3 0,1', '1,2 2,3'], merged: '2,3' },
  { title: 'bestNonPreferredAffinityCount (6)', resources: ['0,1,2,3 0,1', '1,2,3 1,2 1,3 2,3'], merged: '2,3' },
];

interface ComparisonVector {
  /** The number of NUMA nodes that the most demanding resource needs. Undefined if it makes no difference. */
  readonly minNodeCount?: number;
  readonly current: string;
  readonly candidate: string;
  readonly better: 'current' | 'candidate';
}

/** Vectors of `TestCompareHintsNarrowest` whose hints are not empty. */
export const comparisonVectors: readonly ComparisonVector[] = [
  { current: '0', candidate: '0!', better: 'candidate' },
  { current: '0!', candidate: '0', better: 'current' },
  { current: '0!', candidate: '0!', better: 'current' },
  { current: '0,1!', candidate: '0!', better: 'candidate' },
  { current: '0!', candidate: '0,1!', better: 'current' },
  { minNodeCount: 1, current: '0,1', candidate: '0,1', better: 'current' },
  { minNodeCount: 1, current: '1,2', candidate: '0,1', better: 'candidate' },
  { minNodeCount: 1, current: '0,1', candidate: '1,2', better: 'current' },
  { minNodeCount: 2, current: '0,1', candidate: '0', better: 'current' },
  { minNodeCount: 2, current: '0,1', candidate: '0,1', better: 'current' },
  { minNodeCount: 2, current: '1,2', candidate: '0,1', better: 'candidate' },
  { minNodeCount: 2, current: '0,1', candidate: '1,2', better: 'current' },
  { minNodeCount: 2, current: '0', candidate: '0,1,2', better: 'current' },
  { minNodeCount: 2, current: '0', candidate: '0,1', better: 'candidate' },
  { minNodeCount: 3, current: '0', candidate: '0,1', better: 'candidate' },
  { minNodeCount: 3, current: '0', candidate: '1,2', better: 'candidate' },
  { minNodeCount: 4, current: '0,1', candidate: '1,2,3', better: 'candidate' },
  { minNodeCount: 4, current: '1,2,3', candidate: '0,1', better: 'current' },
  { minNodeCount: 4, current: '0,1,2', candidate: '0,1,2', better: 'current' },
  { minNodeCount: 4, current: '0,1,2', candidate: '1,2,3', better: 'current' },
  { minNodeCount: 4, current: '1,2,3', candidate: '0,1,2', better: 'candidate' },
];

interface ClosestVector {
  readonly title: string;
  readonly distances: Readonly<Record<string, readonly number[]>>;
  /** The best set of NUMA nodes so far, and the set that it is compared with. */
  readonly current: string;
  readonly candidate: string;
  readonly closest: 'current' | 'candidate';
}

const equalDistances = (count: number): ClosestVector['distances'] =>
  Object.fromEntries(Array.from({ length: count }, (_, node) => [node, Array.from({ length: count }, () => 10)]));

const PAIRS_OF_NODES = { 0: [10, 11, 12, 12], 1: [11, 10, 12, 12], 2: [12, 12, 10, 11], 3: [12, 12, 11, 10] };

/** Vectors of `TestClosest` in `numa_info_test.go`. */
export const closestVectors: readonly ClosestVector[] = [
  {
    title: 'current and candidate length is not the same, current narrower',
    distances: {},
    current: '0',
    candidate: '0,2',
    closest: 'current',
  },
  {
    title: 'current and candidate length is the same, distance is the same, current more lower bits set',
    distances: equalDistances(3),
    current: '0,1',
    candidate: '0,2',
    closest: 'current',
  },
  {
    title: 'current and candidate length is the same, distance is the same, candidate more lower bits set',
    distances: equalDistances(4),
    current: '0,3',
    candidate: '0,2',
    closest: 'candidate',
  },
  {
    title: 'current and candidate length is the same, candidate average distance is smaller',
    distances: PAIRS_OF_NODES,
    current: '0,3',
    candidate: '0,1',
    closest: 'candidate',
  },
  {
    title: 'current and candidate length is the same, current average distance is smaller',
    distances: PAIRS_OF_NODES,
    current: '2,3',
    candidate: '0,3',
    closest: 'current',
  },
];

export interface AdmissionVector {
  readonly title: string;
  readonly policy: 'best-effort' | 'restricted' | 'single-numa-node';
  /** The hints for the only resource, or null without a preference. */
  readonly hints: string | null;
  readonly isAdmitted: boolean;
}

/** Vectors of `TestAdmit` in `topology_manager_test.go`, which expects the same for pods of each QoS class. */
export const admissionVectors: readonly AdmissionVector[] = [
  { title: 'single-numa-node Policy. No Hints.', policy: 'single-numa-node', hints: null, isAdmitted: true },
  { title: 'Restricted Policy. No Hints.', policy: 'restricted', hints: null, isAdmitted: true },
  { title: 'BestEffort Policy. Preferred Affinity.', policy: 'best-effort', hints: '0! 0,1', isAdmitted: true },
  {
    title: 'BestEffort Policy. More than one Preferred Affinity.',
    policy: 'best-effort',
    hints: '0! 1! 0,1',
    isAdmitted: true,
  },
  { title: 'BestEffort Policy. No Preferred Affinity.', policy: 'best-effort', hints: '0,1', isAdmitted: true },
  { title: 'Restricted Policy. Preferred Affinity.', policy: 'restricted', hints: '0! 0,1', isAdmitted: true },
  {
    title: 'Restricted Policy. More than one Preferred affinity.',
    policy: 'restricted',
    hints: '0! 1! 0,1',
    isAdmitted: true,
  },
  { title: 'Restricted Policy. No Preferred affinity.', policy: 'restricted', hints: '0,1', isAdmitted: false },
];

/**
 * Hints for the policy single-numa-node. Those without a kubelet's title are of `TestPolicySingleNumaNodeFilterHints`,
 * merged.
 */
export const singleNodeHints: readonly HintVector[] = [
  { title: 'TopologyHint not set', resources: [], merged: 'any!' },
  { title: 'HintProvider returns empty non-nil map[string][]TopologyHint', resources: [null], merged: 'any!' },
  { title: 'HintProvider returns -nil map[string][]TopologyHint from provider', resources: [null], merged: 'any!' },
  {
    title: 'HintProvider returns empty non-nil map[string][]TopologyHint from provider',
    resources: [''],
    merged: 'any',
  },
  {
    title: 'Single TopologyHint with Preferred as true and NUMANodeAffinity as nil',
    resources: ['any!'],
    merged: 'any!',
  },
  {
    title: 'Single TopologyHint with Preferred as false and NUMANodeAffinity as nil',
    resources: ['any'],
    merged: 'any',
  },
  { title: 'Two providers, 1 hint each, no common mask', resources: ['0!', '1!'], merged: 'any' },
  { title: 'Two providers, 1 hint each, same mask, 1 preferred, 1 not 1/2', resources: ['0!', '0'], merged: 'any' },
  { title: 'Two providers, 1 hint each, same mask, 1 preferred, 1 not 2/2', resources: ['1!', '1'], merged: 'any' },
  {
    title: 'Two providers, 1 with 2 hints, 1 with single non-preferred hint matching',
    resources: ['0! 1!', '0,1'],
    merged: 'any',
  },
  { title: 'a hint for any node that is not preferred, beside one that is', resources: ['any', 'any!'], merged: 'any' },
  {
    title: 'hints for any node beside hints for one node, of which one is not preferred',
    resources: ['0! any', '1! any!'],
    merged: '0!',
  },
  { title: 'a resource that no node can provide', resources: ['1! 0! any', ''], merged: 'any' },
  {
    title: 'two resources without a preferred hint for one node',
    resources: ['0! 1! 1,2 0,1,2 any', '1,2 0,1,2 0,2 3', '1,2 0,1,2 0,2'],
    merged: 'any',
  },
  { title: 'Single NUMA hint generation', resources: ['0,1!', '0! 1! 0,1'], merged: 'any' },
  { title: 'One no-preference provider', resources: ['0! 1! 0,1', null], merged: '0!' },
];
