import { expect, test } from '@jest/globals';
import { formatCpuSet, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import {
  mergeHints,
  nodeSetsOf,
  type TopologyHint,
  type TopologyPolicyName,
} from '../../../kubernetes/cpus/topologyHints.ts';
import {
  admissionVectors,
  bestEffortHints,
  closestHints,
  closestVectors,
  commonHints,
  comparisonVectors,
  type HintVector,
  narrowestHints,
  singleNodeHints,
} from './hintVectors.ts';

const fourNodes = {
  ids: [0, 1, 2, 3],
  distances: { 0: [10, 11, 12, 12], 1: [11, 10, 12, 12], 2: [12, 12, 10, 11], 3: [12, 12, 11, 10] },
};

const eightNodes = {
  ids: [0, 1, 2, 3, 4, 5, 6, 7],
  distances: {
    0: [10, 11, 12, 12, 30, 30, 30, 30],
    1: [11, 10, 12, 12, 30, 30, 30, 30],
    2: [12, 12, 10, 11, 30, 30, 30, 30],
    3: [12, 12, 11, 10, 30, 30, 30, 30],
    4: [30, 30, 30, 30, 10, 11, 12, 12],
    5: [30, 30, 30, 30, 11, 10, 12, 12],
    6: [30, 30, 30, 30, 12, 12, 10, 11],
    7: [30, 30, 30, 30, 12, 12, 13, 10],
  },
};

type Numa = typeof fourNodes | typeof eightNodes;

function parseHint(text: string, { ids }: Numa): TopologyHint {
  const nodes = text.replace('!', '');
  const isPreferred = text.endsWith('!');
  if (nodes === 'any') return { nodes: undefined, isPreferred };
  return { nodes: nodes === 'all' ? ids : parseCpuSet(nodes), isPreferred };
}

const shown = ({ nodes, isPreferred }: TopologyHint): string =>
  `${nodes === undefined ? 'any' : formatCpuSet(nodes)}${isPreferred ? '!' : ''}`;

function merged({ resources }: HintVector, name: TopologyPolicyName, numa: Numa, prefersClosest = false) {
  const hints = resources.map((each) =>
    each === null
      ? undefined
      : each
          .split(' ')
          .filter(Boolean)
          .map((hint) => parseHint(hint, numa)),
  );
  return mergeHints({ name, isPerPod: false, prefersClosest }, numa, hints);
}

/** Checks the merged hint, and that each policy but best-effort admits only a preferred one. */
function expectMerged(vector: HintVector, name: TopologyPolicyName, numa: Numa, prefersClosest = false): void {
  const { hint, isAdmitted } = merged(vector, name, numa, prefersClosest);
  expect(shown(hint)).toBe(shown(parseHint(vector.merged, numa)));
  expect(isAdmitted).toBe(name === 'best-effort' || vector.merged.endsWith('!'));
}

test.each([...commonHints, ...bestEffortHints, ...narrowestHints])(
  'best-effort and restricted choose the NUMA nodes that a kubelet chooses: $title',
  (vector) => {
    expectMerged(vector, 'best-effort', fourNodes);
    expectMerged(vector, 'restricted', fourNodes);
  },
);

test.each([...commonHints, ...bestEffortHints, ...closestHints])(
  'prefer-closest-numa-nodes chooses the NUMA nodes that a kubelet chooses: $title',
  (vector) => {
    expectMerged(vector, 'best-effort', eightNodes, true);
    expectMerged(vector, 'restricted', eightNodes, true);
  },
);

test.each([...commonHints, ...singleNodeHints])(
  'single-numa-node chooses the NUMA node that a kubelet chooses: $title',
  (vector) => expectMerged(vector, 'single-numa-node', fourNodes),
);

test('sets of NUMA nodes are tried by size and then in lexical order', () => {
  expect(nodeSetsOf([0, 1, 8]).map(formatCpuSet)).toEqual(['0', '1', '8', '0-1', '0,8', '1,8', '0-1,8']);
});

test.each(closestVectors)('prefers the closest NUMA nodes as a kubelet does: $title', (vector) => {
  const { distances, current, candidate, closest } = vector;
  const hints = [current, candidate].map((text) => ({ nodes: parseCpuSet(text), isPreferred: true }));
  const policy = { name: 'best-effort', isPerPod: false, prefersClosest: true } as const;
  const { hint } = mergeHints(policy, { ids: [0, 1, 2, 3], distances }, [hints]);
  expect(formatCpuSet(hint.nodes ?? [])).toBe(formatCpuSet(parseCpuSet(vector[closest])));
});

test.each(comparisonVectors)(
  'compares hints as a kubelet does: $current with $candidate, where a resource needs $minNodeCount nodes',
  ({ minNodeCount = 0, current, candidate, better }) => {
    // This hint has no node in common with any other, so it only sets the number of nodes.
    const lastHint = Array.from({ length: minNodeCount }, (_, index) => 4 + index).join();
    const resources = [`${current} ${candidate}`, `any! ${lastHint}`];
    const { hint } = merged({ title: '', resources, merged: '' }, 'best-effort', eightNodes);
    expect(shown(hint)).toBe(shown(parseHint({ current, candidate }[better], eightNodes)));
  },
);

test.each(admissionVectors)('admits the pods that a kubelet admits: $title', ({ policy, hints, isAdmitted }) => {
  const merge = mergeHints({ name: policy, isPerPod: false, prefersClosest: false }, { ids: [0, 1] }, [
    hints?.split(' ').map((hint) => parseHint(hint, fourNodes)),
  ]);
  expect(merge.isAdmitted).toBe(isAdmitted);
});
