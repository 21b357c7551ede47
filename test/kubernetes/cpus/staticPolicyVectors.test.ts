import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { allocatePod } from '../../../kubernetes/cpus/allocatePod.ts';
import {
  assignCpus,
  assignmentsProblem,
  type CpuAssignments,
  containerCpuHints,
  createCpuPolicy,
  findAssignment,
  initialAssignments,
  podCpuHints,
  releaseCpus,
} from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, NO_CPUS, parseCpuSet, unionOf, without } from '../../../kubernetes/cpus/cpuSet.ts';
import type { ResourceHints } from '../../../kubernetes/cpus/topologyHints.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import {
  alignedCpuVectors,
  type CpuAllocationVector,
  type CpuHintVector,
  type CpuReleaseVector,
  cpuAllocationVectors,
  cpuHintVectors,
  cpuReleaseVectors,
  cpuStartVectors,
  type PodCpuVector,
  podCpuCountVectors,
  podCpuHintVectors,
  podCpuVectors,
} from './cpuPolicyVectors.ts';
import { kubeletHosts } from './topologies.ts';

const ONE_CPU = { reservedMillis: 1_000, reservedCpus: NO_CPUS };

function policyOf({ host, options = {} }: CpuHintVector | CpuAllocationVector, reserved = '') {
  const reservedCpus = parseCpuSet(reserved.replace('none', ''));
  const policy = createCpuPolicy(kubeletHosts[host], options, {
    reservedMillis: Math.max(1, reservedCpus.length) * 1_000,
    reservedCpus,
  });
  return reserved === 'none' ? { ...policy, reserved: NO_CPUS } : policy;
}

const stateOf = ({ shared, exclusive = [] }: Pick<CpuReleaseVector, 'shared' | 'exclusive'>): CpuAssignments => ({
  shared: parseCpuSet(shared),
  exclusive: exclusive.map((text) => {
    const [name = '', cpus = ''] = text.split(' ');
    const [podUid = '', container = ''] = name.split('/');
    return { podUid, container, cpus: parseCpuSet(cpus) };
  }),
});

/** Returns the pod of a vector and its container. Its memory is the same as in the kubelet's test. */
function podContainerOf(text: string, podCpu?: string) {
  const [name = '', amounts = ''] = text.split(' ');
  const [uid = '', containerName = ''] = name.split('/');
  const resourcesOf = (pair: string) => {
    const [request = '', limit = request] = pair.split('/');
    return { requests: { cpu: request, memory: '1G' }, limits: { cpu: limit, memory: '1G' } };
  };
  const container = containerWith(containerName, { resources: resourcesOf(amounts) });
  const pod: Pod = podWith('pod', {
    containers: [container],
    ...(podCpu === undefined ? {} : { resources: resourcesOf(podCpu) }),
  });
  return { pod: { ...pod, metadata: { ...pod.metadata, uid } }, container };
}

function expectAllocation(vector: CpuAllocationVector): void {
  const numaNodes = vector.numaNodes === undefined ? undefined : parseCpuSet(vector.numaNodes);
  const result = assignCpus(policyOf(vector, vector.reserved), stateOf(vector), podContainerOf(vector.container), {
    numaNodes,
    reusable: NO_CPUS,
  });
  if ('refusal' in result) {
    expect(result.refusal.message).toContain(vector.error ?? 'no error');
    return;
  }
  expect(vector.error).toBeUndefined();
  expect(result.cpus && formatCpuSet(result.cpus)).toBe(vector.cpus);
  expect(result.cpus?.some((cpu) => result.assignments.shared.includes(cpu)) ?? false).toBe(false);
}

test.each([...cpuAllocationVectors, ...alignedCpuVectors])(
  'assigns the CPUs that a kubelet assigns: $title',
  expectAllocation,
);

test.each(cpuAllocationVectors.filter(({ isRegardlessOfOptions }) => isRegardlessOfOptions))(
  'assigns the same CPUs with full-pcpus-only: $title',
  (vector) => expectAllocation({ ...vector, options: { fullPcpusOnly: true } }),
);

/** The order of hints has no meaning, so they are sorted as in the kubelet's test. */
const formatHints = (hints: ResourceHints = []): string =>
  hints
    .map(({ nodes = [], isPreferred }) => `${nodes.join()}${isPreferred ? '!' : ''}`)
    .toSorted()
    .join(' ');

const sortedHints = (hints: string): string => hints.split(' ').toSorted().join(' ');

test.each(cpuHintVectors)('gives the hints of a kubelet: $title', (vector) => {
  const podContainer = podContainerOf(vector.container, vector.podCpu);
  const [policy, state] = [policyOf(vector, 'none'), stateOf(vector)];
  expect(formatHints(containerCpuHints(policy, state, podContainer, NO_CPUS))).toBe(sortedHints(vector.hints));
  expect(formatHints(podCpuHints(policy, state, podContainer.pod))).toBe(sortedHints(vector.hints));
});

test.each(podCpuHintVectors)('gives the hints of a kubelet for a pod: $title', (vector) => {
  const { pod } = podContainerOf(vector.container);
  const policy = policyOf(vector, 'none');
  expect(formatHints(podCpuHints(policy, stateOf(vector), pod))).toBe(sortedHints(vector.hints));
});

/** Returns the pod of a vector. Containers are named after their positions. */
function podOf({ initContainers, containers }: Pick<PodCpuVector, 'initContainers' | 'containers'>): Pod {
  const containerOf = (text: string, index: number) => {
    const [cpu = '', kind] = text.split(' ');
    const amounts = { cpu, memory: '1G' };
    const container = containerWith(`c${index}`, { resources: { requests: amounts, limits: amounts } });
    return kind === 'sidecar' ? { ...container, restartPolicy: 'Always' as const } : container;
  };
  const pod = podWith('pod', {
    initContainers: initContainers.map(containerOf),
    containers: containers.map((text, index) => containerOf(text, initContainers.length + index)),
  });
  return { ...pod, metadata: { ...pod.metadata, uid: 'pod' } };
}

test.each(podCpuVectors)('reuses the CPUs of init containers as a kubelet does: $title', (vector) => {
  const policy = { ...createCpuPolicy(kubeletHosts.singleSocketSmt, {}, ONE_CPU), reserved: NO_CPUS };
  const allocation = allocatePod({ cpuPolicy: policy }, { cpus: initialAssignments(policy) }, podOf(vector));
  if (!('assignments' in allocation) || allocation.assignments.cpus === undefined) throw new Error('no assignments');
  const { cpus } = allocation.assignments;
  const assigned = vector.cpus.map((_, index) => formatCpuSet(findAssignment(cpus, 'pod', `c${index}`)?.cpus ?? []));
  expect(assigned).toEqual(vector.cpus);
  const unused = without(
    policy.topology.cpus.map(({ cpu }) => cpu),
    unionOf(...vector.cpus.map(parseCpuSet)),
  );
  expect(cpus.shared).toEqual(unused);
});

test.each(cpuReleaseVectors)('releases the CPUs that a kubelet releases: $title', (vector) => {
  const { shared, exclusive } = releaseCpus(
    stateOf(vector),
    ({ podUid, container }) => `${podUid}/${container}` === vector.released,
  );
  expect(formatCpuSet(shared)).toBe(vector.sharedAfterwards);
  expect(exclusive.map(({ podUid, container }) => `${podUid}/${container}`)).not.toContain(vector.released);
});

test.each(cpuStartVectors)('starts with the CPUs of a checkpoint if a kubelet does: $title', (vector) => {
  const { options = {}, reserved, error, sharedAfterwards } = vector;
  const reservedCpus = typeof reserved === 'string' ? parseCpuSet(reserved) : NO_CPUS;
  const reservation = { reservedMillis: Math.max(1, Number(reserved) || reservedCpus.length) * 1_000, reservedCpus };
  const policy = createCpuPolicy(kubeletHosts.dualSocketSmt, options, reservation);
  const startPolicy = reserved === 0 ? { ...policy, reserved: NO_CPUS } : policy;
  const state = stateOf(vector);
  expect(assignmentsProblem(startPolicy, state)).toBe(error);
  if (error !== undefined) return;
  const { shared } = state.shared.length === 0 ? initialAssignments(startPolicy) : state;
  expect(formatCpuSet(shared)).toBe(sharedAfterwards);
});

test.each(podCpuCountVectors)('a pod needs as many exclusive CPUs as in a kubelet: $title', (vector) => {
  const pod = podOf(vector);
  const policy = { ...createCpuPolicy(kubeletHosts.quadSocketFourWaySmt, {}, ONE_CPU), reserved: NO_CPUS };
  const hasHints = (freeCount: number) => {
    const shared = Array.from({ length: freeCount }, (_, cpu) => cpu);
    return (podCpuHints(policy, { shared, exclusive: [] }, pod) ?? []).length > 0;
  };
  if (vector.count === 0) expect(hasHints(288)).toBe(false);
  else expect([hasHints(vector.count - 1), hasHints(vector.count)]).toEqual([false, true]);
});
