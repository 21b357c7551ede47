import { expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { allocatePod } from '../../../kubernetes/cpus/allocatePod.ts';
import { formatCpuSet, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import type {
  ResourceHints,
  TopologyHint,
  TopologyManager,
  TopologyPolicyName,
} from '../../../kubernetes/cpus/topologyHints.ts';
import {
  createMemoryPolicy,
  initialMemoryAssignments,
  type MemoryAssignment,
  type MemoryAssignments,
  type MemoryBlock,
  type MemoryNode,
  memoryProblem,
  withPresentSizes,
} from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import {
  assignMemory,
  containerMemoryHints,
  isInUseOtherwise,
  type MemoryHints,
  nextReusableMemory,
  podMemoryHints,
  podMemoryRequests,
  type ReusableMemory,
  releaseMemory,
} from '../../../kubernetes/numaMemory/memoryPolicy.ts';
import { podWith } from '../../fakes/pods.ts';
import {
  allocationVectors,
  completedInitVector,
  containerHintVectors,
  initContainerVectors,
  type MemoryVector,
  managerAllocationVectors,
  managerHintVector,
  managerRemovalVectors,
  type PodVector,
  podHintVectors,
  podRequestVectors,
  removalVectors,
  sidecarVectors,
  stalePodVectors,
  startVectors,
  violationVectors,
} from './memoryVectors.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const parseAmount = (text = ''): number => (text.endsWith('B') ? Number.parseInt(text, 10) : Number(text) * MIB);

/** Splits words into pairs, e.g. `memory 1024 hugepages-1Gi 1024`. */
const pairsOf = (words: readonly string[]): (readonly [string, string])[] =>
  words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ''] as const] : []));

const parseNodes = (nodes: readonly string[]): MemoryNode[] =>
  nodes.map((text) => {
    const [id, count = '', group = '', ...amounts] = text.split(' ');
    return {
      id: Number(id),
      blockCount: Number(count.slice(1)),
      group: parseCpuSet(group.slice(1, -1)),
      tables: pairsOf(amounts).map(([resource, numbers]) => {
        const [total = 0, systemReserved = 0, allocatable = 0, reserved = 0, free = 0] = numbers
          .split('/')
          .map(parseAmount);
        return { resource, total, systemReserved, allocatable, reserved, free };
      }),
    };
  });

function parseAssignments(assignments: readonly string[]): MemoryAssignment[] {
  const containers = new Map<string, MemoryBlock[]>();
  for (const text of assignments) {
    const [name = '', resource = '', amount, nodes = ''] = text.split(' ');
    const block = { numaNodes: parseCpuSet(nodes.slice(1)), resource, bytes: parseAmount(amount) };
    containers.set(name, [...(containers.get(name) ?? []), block]);
  }
  return [...containers].map(([name, blocks]) => {
    const [podUid = '', container = ''] = name.split('/');
    return { podUid, container, blocks };
  });
}

function policyOf({ machine = [], reserved = [] }: MemoryVector) {
  const nodes = machine.map((text) => {
    const [id, _memory, memory, ...hugePages] = text.split(' ');
    return {
      id: Number(id),
      memoryBytes: parseAmount(memory),
      hugePages: pairsOf(hugePages).map(([resource, amount]) => ({ resource, bytes: parseAmount(amount) })),
    };
  });
  const reservations = reserved.map((text) => {
    const [id, resource = '', amount] = text.split(' ');
    return { numaNode: Number(id), resource, bytes: parseAmount(amount) };
  });
  return createMemoryPolicy(nodes, reservations);
}

const stateOf = ({ nodes = [], assignments = [] }: MemoryVector): MemoryAssignments => ({
  nodes: parseNodes(nodes),
  containers: parseAssignments(assignments),
});

function parseContainer(text: string): Container & { readonly isInit: boolean } {
  const words = text.split(' ');
  const kind = words[0] === 'init' || words[0] === 'sidecar' ? words.shift() : undefined;
  const [name = '', ...amounts] = words;
  const listOf = (position: 'request' | 'limit') =>
    Object.fromEntries(
      pairsOf(amounts).map(([resource, numbers]) => {
        const [request = '', limit = request] = numbers.split('/');
        return [resource, `${position === 'request' ? request : limit}Mi`] as const;
      }),
    );
  const requests = { cpu: '1', ...listOf('request') };
  const limits = { cpu: '1', ...listOf('limit') };
  return {
    name,
    image: 'image',
    resources: { requests, limits },
    ...(kind === 'sidecar' ? { restartPolicy: 'Always' as const } : {}),
    isInit: kind !== undefined,
  };
}

function podOf({ uid, containers, podMemory }: PodVector): Pod {
  const all = containers.map(parseContainer);
  const amounts = { cpu: '1', memory: `${podMemory}Mi` };
  const pod = podWith('pod', {
    initContainers: all.filter(({ isInit }) => isInit),
    containers: all.filter(({ isInit }) => !isInit),
    ...(podMemory === undefined ? {} : { resources: { requests: amounts, limits: amounts } }),
  });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

const hasPod = (vector: MemoryVector): vector is MemoryVector & { readonly pod: PodVector } => vector.pod !== undefined;

const parseHint = (text = 'any'): TopologyHint => {
  const nodes = text.replace('!', '');
  return { nodes: nodes === 'any' ? undefined : parseCpuSet(nodes), isPreferred: text.endsWith('!') };
};

const sorted = ({ nodes, containers }: MemoryAssignments) => ({
  nodes: nodes.map((node) => ({ ...node, tables: node.tables.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)) })),
  containers: containers
    .map(({ podUid, container, blocks }) => ({
      name: `${podUid}/${container}`,
      blocks: blocks.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});

/** Checks the state of the nodes and the blocks of all containers. */
function expectState(actual: MemoryAssignments, { expectedNodes = [], expectedAssignments = [] }: MemoryVector): void {
  expect(sorted(actual)).toEqual(
    sorted({ nodes: parseNodes(expectedNodes), containers: parseAssignments(expectedAssignments) }),
  );
}

/** Returns the assignments for the containers in this order. Throws the message of a refusal. */
function assignAll({ hint, ...vector }: MemoryVector, pod: Pod, containers: readonly Container[]): MemoryAssignments {
  let assignments = stateOf(vector);
  let reusable: ReusableMemory = [];
  for (const container of containers) {
    const result = assignMemory(assignments, { pod, container }, { hint: parseHint(hint), reusable });
    if ('refusal' in result) throw new Error(result.refusal.message);
    assignments = result.assignments;
    if (result.blocks !== undefined) reusable = nextReusableMemory(reusable, { pod, container }, result.blocks);
  }
  return assignments;
}

test.each(startVectors)('accepts a persisted state like a kubelet: $title', (vector) => {
  const policy = policyOf(vector);
  const state = stateOf(vector);
  expect(memoryProblem(policy, state)).toBe(vector.error);
  expect(memoryProblem(policy, withPresentSizes(policy, state))).toBe(vector.error);
  if (vector.error === undefined && state.nodes.length === 0) expectState(initialMemoryAssignments(policy), vector);
});

test.each([
  [
    'continues if the kernel takes a page more from one node of a group, and less from the other',
    ['0 x1 [0,1] memory 2048/512/1536/1536/0', '1 x1 [0,1] memory 2048/0/2048/464/1584'],
    { present: [2_047, 2_049], expected: '0 x1 [0,1] memory 2047/512/1535/1535/0' },
  ],
  [
    'does not continue if a node has 129 MiB less',
    ['0 x1 [0,1] memory 2048/512/1536/1536/0', '1 x1 [0,1] memory 2048/0/2048/464/1584'],
    { present: [1_919, 2_048], expected: undefined },
  ],
  [
    'does not continue if the assignments no longer fit',
    ['0 x1 [0,1] memory 1024/512/512/512/0', '1 x1 [0,1] memory 1488/0/1488/1488/0'],
    { present: [1_024, 1_487], expected: undefined },
  ],
] as const)('a node with assigned memory %s', (_title, nodes, { present, expected }) => {
  const machine = present.map((size, id) => `${id} memory ${size}`);
  const policy = policyOf({ title: '', machine, reserved: ['0 memory 512'] });
  const stored = stateOf({ title: '', nodes, assignments: ['pod/main memory 2000 @0,1'] });
  const result = withPresentSizes(policy, stored);
  if (expected === undefined) expect(result).toBe(stored);
  else expect(result.nodes[0]).toEqual(parseNodes([expected])[0]);
  expect(memoryProblem(policy, result) === undefined).toBe(expected !== undefined);
  expect(result.containers).toEqual(stored.containers);
});

test.each(allocationVectors.filter(hasPod))('allocates memory like a kubelet: $title', (vector) => {
  const pod = podOf(vector.pod);
  const allocate = () => assignAll(vector, pod, pod.spec.containers.slice(0, 1));
  if (vector.error !== undefined)
    expect(allocate).toThrow(`Allocate failed due to ${vector.error}, which is unexpected`);
  else expectState(allocate(), vector);
});

test.each(managerAllocationVectors.filter(hasPod))('allocates memory for a pod like a kubelet: $title', (vector) => {
  const pod = podOf(vector.pod);
  const allocate = () => assignAll(vector, pod, pod.spec.containers);
  if (vector.error === undefined) expectState(allocate(), vector);
  else expect(allocate).toThrow(`Allocate failed due to ${vector.error}, which is unexpected`);
});

test(`releases memory like a kubelet: ${completedInitVector.title}`, () => {
  const pod = podOf(completedInitVector.pod);
  const { initContainers = [], containers } = pod.spec;
  const assignments = assignAll(completedInitVector, pod, [...initContainers, ...containers]);
  expectState(
    releaseMemory(assignments, ({ container }) => container === 'initContainer1'),
    completedInitVector,
  );
});

test.each(managerRemovalVectors)('releases the memory of a container like a kubelet: $title', (vector) => {
  expectState(
    releaseMemory(stateOf(vector), ({ container }) => container === 'container2'),
    vector,
  );
});

test.each(stalePodVectors)('releases the memory of a pod that is gone like a kubelet: $title', (vector) => {
  expectState(
    releaseMemory(stateOf(vector), ({ podUid }) => podUid === 'pod1'),
    vector,
  );
});

test(`gives the hints of a kubelet: ${managerHintVector.title}`, () => {
  const pod = podOf(managerHintVector.pod);
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  const released = releaseMemory(stateOf(managerHintVector), ({ podUid }) => podUid === pod.metadata.uid);
  expectHints(containerMemoryHints(released, { pod, container }, []), managerHintVector);
});

test.each([...initContainerVectors, ...sidecarVectors].filter(hasPod))(
  'reuses the memory of init containers like a kubelet: $title',
  (vector) => {
    const pod = podOf(vector.pod);
    expectState(assignAll(vector, pod, [...(pod.spec.initContainers ?? []), ...pod.spec.containers]), vector);
  },
);

test.each(removalVectors)('releases memory like a kubelet: $title', (vector) => {
  const isReleased = ({ podUid, container }: MemoryAssignment) => podUid === 'pod1' && container === 'container1';
  expectState(releaseMemory(stateOf(vector), isReleased), vector);
});

const formatHints = (hints: ResourceHints = []): string =>
  hints.map(({ nodes = [], isPreferred }) => `${nodes.join(',')}${isPreferred ? '!' : ''}`).join(' ');

/** Ignores the kinds of memory, because the kubelet returns the same hints for all of them. */
const expectHints = (actual: MemoryHints, { hints = {} }: MemoryVector) =>
  expect(actual.map(formatHints)).toEqual(Object.values(hints));

test.each(containerHintVectors.filter(hasPod))('gives the hints of a kubelet for a container: $title', (vector) => {
  const pod = podOf(vector.pod);
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  expectHints(containerMemoryHints(stateOf(vector), { pod, container }, []), vector);
});

test.each(podHintVectors.filter(hasPod))('gives the hints of a kubelet for a pod: $title', (vector) => {
  expectHints(podMemoryHints(stateOf(vector), podOf(vector.pod)), vector);
});

test.each(podRequestVectors)('adds up the requests of a pod like a kubelet: $title', ({ pod, requests }) => {
  const expected = pairsOf(requests.split(' ')).map(([resource, text]) => ({ resource, bytes: parseAmount(text) }));
  expect(podMemoryRequests(podOf(pod).spec)).toEqual(expected);
});

test.each(violationVectors)('keeps groups of NUMA nodes apart like a kubelet: $title', (vector) => {
  const ids = parseHint(vector.hint).nodes ?? [];
  const members = parseNodes(vector.nodes).filter(({ id }) => ids.includes(id));
  expect(isInUseOtherwise(members, ids)).toBe(vector.isViolation);
});

test('the policy needs memory that is reserved for the system, but not on every NUMA node', () => {
  const message = '[memorymanager] you should specify the system reserved memory';
  expect(() => createMemoryPolicy([], [])).toThrow(message);
  expect(() => createMemoryPolicy([], [{ numaNode: 0, resource: 'hugepages-2Mi', bytes: GIB }])).toThrow(message);
  createMemoryPolicy([], [{ numaNode: 1, resource: 'memory', bytes: GIB }]);
});

/** Returns a host with these amounts of GiB per NUMA node, 1 GiB of which is reserved on the first node. */
function hostWith(...gib: readonly number[]) {
  const nodes = gib.map((each, id) => ({ id, memoryBytes: each * GIB, hugePages: [] }));
  return createMemoryPolicy(nodes, [{ numaNode: 0, resource: 'memory', bytes: GIB }]);
}

/** Returns a Guaranteed pod whose containers request these amounts of GiB. */
const podWithGib = (uid: string, ...gib: readonly (number | `init ${number}`)[]) => {
  const containers = gib.map((each, index) => {
    const [kind, amount] = typeof each === 'number' ? ['', each] : ['init ', Number(each.slice('init '.length))];
    return `${kind}c${index} memory ${amount * 1024}`;
  });
  return podOf({ uid, containers });
};

/** Allocates to pods sequentially. Returns the NUMA nodes of each container, and the refusals. */
function allocated(
  name: TopologyPolicyName | 'none',
  policy: ReturnType<typeof hostWith>,
  pods: readonly Pod[],
  isPerPod = false,
) {
  let memory = initialMemoryAssignments(policy);
  const refusals: string[] = [];
  const ids = policy.nodes.map(({ id }) => id);
  const topologyManager: TopologyManager | undefined =
    name === 'none' ? undefined : { policy: { name, isPerPod, prefersClosest: false }, numaNodes: { ids } };
  const managers = { topologyManager, memoryPolicy: policy };
  for (const pod of pods) {
    const allocation = allocatePod(managers, { memory }, pod);
    if ('refusal' in allocation) refusals.push(`${allocation.refusal.reason}: ${allocation.refusal.message}`);
    else memory = allocation.assignments.memory ?? memory;
  }
  const nodes = memory.containers.map(
    ({ podUid, container, blocks }) =>
      `${podUid}/${container} @${blocks.map(({ numaNodes }) => formatCpuSet(numaNodes))}`,
  );
  return { nodes, refusals, free: memory.nodes.map(({ tables: [table] }) => (table?.free ?? 0) / GIB) };
}

test('containers that fit on one NUMA node get its memory, and larger ones that of several nodes', () => {
  const pods = [podWithGib('a', 2), podWithGib('b', 5), podWithGib('c', 6)];
  expect(allocated('none', hostWith(4, 4, 4, 4), pods)).toMatchObject({
    nodes: ['a/c0 @0', 'b/c0 @1-2'],
    refusals: [
      'UnexpectedAdmissionError: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
    ],
    free: [1, 0, 3, 4],
  });
});

test('a NUMA node that belongs to a group serves no container that fits on one node', () => {
  expect(allocated('none', hostWith(4, 4, 4), [podWithGib('a', 6), podWithGib('b', 1)]).nodes).toEqual([
    'a/c0 @0-1',
    'b/c0 @2',
  ]);
});

test('containers share a group only if they need exactly its NUMA nodes', () => {
  const { nodes, refusals } = allocated('none', hostWith(4, 4, 4), [
    podWithGib('a', 5),
    podWithGib('b', 2),
    podWithGib('c', 5),
  ]);
  expect(nodes).toEqual(['a/c0 @0-1', 'b/c0 @2']);
  expect(refusals).toHaveLength(1);
});

test('single-numa-node refuses a container whose memory is on several NUMA nodes', () => {
  expect(allocated('single-numa-node', hostWith(4, 4), [podWithGib('a', 5)]).refusals).toEqual([
    'TopologyAffinityError: Resources cannot be allocated with Topology locality',
  ]);
});

test('restricted refuses several NUMA nodes if one would suffice on an empty host, and best-effort does not', () => {
  const pods = [podWithGib('a', 3), podWithGib('b', 3)];
  expect(allocated('restricted', hostWith(5, 2, 2), pods).refusals).toEqual([
    'TopologyAffinityError: Resources cannot be allocated with Topology locality',
  ]);
  expect(allocated('best-effort', hostWith(5, 2, 2), pods).nodes).toEqual(['a/c0 @0', 'b/c0 @1-2']);
});

test('with the scope pod, all containers of a pod get memory of the same NUMA nodes', () => {
  const pod = podWithGib('a', 2, 3);
  expect(allocated('best-effort', hostWith(4, 6), [pod], true).nodes).toEqual(['a/c0 @1', 'a/c1 @1']);
  expect(allocated('best-effort', hostWith(4, 6), [pod]).nodes).toEqual(['a/c0 @0', 'a/c1 @1']);
});

test('a pod gets memory for all of its containers or for none', () => {
  expect(allocated('none', hostWith(4, 4), [podWithGib('a', 3, 4, 1)])).toMatchObject({ nodes: [], free: [3, 4] });
});

test('later containers use the memory of init containers that have completed', () => {
  expect(allocated('none', hostWith(4), [podWithGib('a', 'init 3', 2, 1)])).toMatchObject({
    nodes: ['a/c0 @0', 'a/c1 @0', 'a/c2 @0'],
    free: [0],
  });
});

test('init containers that have completed get no memory again when a new agent admits their pod', () => {
  const policy = hostWith(4);
  const pod = podWithGib('a', 'init 3', 2);
  const allocate = (memory: MemoryAssignments) => {
    const allocation = allocatePod({ memoryPolicy: policy }, { memory }, pod);
    if (!('assignments' in allocation) || allocation.assignments.memory === undefined) throw new Error('refused');
    return allocation.assignments.memory;
  };
  const initialized = releaseMemory(allocate(initialMemoryAssignments(policy)), ({ container }) => container === 'c0');
  expect(allocate(initialized)).toEqual(initialized);
});

test('pods that are not Guaranteed get no memory of their own', () => {
  const pod = podOf({ uid: 'a', containers: ['main memory 1024/2048'] });
  expect(allocated('none', hostWith(4), [pod])).toEqual({ nodes: [], refusals: [], free: [3] });
});

test('counts requests and failures of memory for the metrics', () => {
  const policy = hostWith(4);
  const topologyManager: TopologyManager = {
    policy: { name: 'restricted', isPerPod: false, prefersClosest: false },
    numaNodes: { ids: [0] },
  };
  const memory = initialMemoryAssignments(policy);
  const { counts } = allocatePod({ topologyManager, memoryPolicy: policy }, { memory }, podWithGib('a', 1, 9));
  expect(counts).toMatchObject({ memoryPinningRequests: 2, memoryPinningErrors: 1, topologyErrors: 1 });
});
