import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { allocatePod } from '../../../kubernetes/cpus/allocatePod.ts';
import {
  assignmentsProblem,
  type CpuAssignments,
  type CpuPolicyOptions,
  createCpuPolicy,
  findAssignment,
  initialAssignments,
  releaseCpus,
} from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, intersectionOf, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { numaNodesOf } from '../../../kubernetes/cpus/cpuTopology.ts';
import type { TopologyPolicy } from '../../../kubernetes/cpus/topologyHints.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import { kubeletHosts } from './topologies.ts';

type Host = keyof typeof kubeletHosts;

const reserve = (count: number, cpus = '') => ({ reservedMillis: count * 1_000, reservedCpus: parseCpuSet(cpus) });

const policyOn = (host: Host, options: CpuPolicyOptions = {}, reservation = reserve(1)) =>
  createCpuPolicy(kubeletHosts[host], options, reservation);

const managersOn = (host: Host, options: CpuPolicyOptions = {}, policy?: TopologyPolicy) => ({
  cpuPolicy: policyOn(host, options),
  topologyManager: policy && { policy, numaNodes: numaNodesOf(kubeletHosts[host]) },
});

const limits = (cpu: string) => ({ resources: { requests: { cpu, memory: '1Gi' }, limits: { cpu, memory: '1Gi' } } });

/** A pod with one container per amount of CPU, which is named after its position. */
function guaranteed(uid: string, amounts: readonly string[], initAmounts: readonly string[] = []): Pod {
  const pod = podWith('web', {
    containers: amounts.map((cpu, index) => containerWith(`c${index}`, limits(cpu))),
    initContainers: initAmounts.map((cpu, index) => containerWith(`i${index}`, limits(cpu))),
  });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

/** Allocates CPUs to a pod on a node that assigns no memory. */
function allocateCpus(managers: CpuManagers, cpus: CpuAssignments, pod: Pod) {
  const allocation = allocatePod(managers, { cpus }, pod);
  if ('refusal' in allocation) return allocation;
  return { counts: allocation.counts, assignments: allocation.assignments.cpus ?? cpus };
}

type CpuManagers = ReturnType<typeof managersOn>;

/** Allocates to pods one after the other. Returns the CPUs of each container, and the refusals. */
function allocated(managers: CpuManagers, ...pods: readonly Pod[]) {
  let assignments = initialAssignments(managers.cpuPolicy);
  const refusals: string[] = [];
  for (const pod of pods) {
    const allocation = allocateCpus(managers, assignments, pod);
    if ('assignments' in allocation) assignments = allocation.assignments;
    else refusals.push(`${allocation.refusal.reason}: ${allocation.refusal.message}`);
  }
  const exclusive = assignments.exclusive.map((each) => `${each.podUid}/${each.container} ${formatCpuSet(each.cpus)}`);
  return { shared: formatCpuSet(assignments.shared), exclusive, refusals };
}

test.each<[string, Pod]>([
  ['a part of a CPU', guaranteed('a', ['977m'])],
  [
    'a pod that is not Guaranteed',
    podWith('web', { containers: [containerWith('main', { resources: { requests: { cpu: '1' } } })] }),
  ],
  [
    'a pod with resources of its own',
    {
      ...guaranteed('a', ['1']),
      spec: { ...guaranteed('a', ['1']).spec, resources: { limits: { cpu: '2', memory: '2Gi' } } },
    },
  ],
])('the CPU manager assigns no exclusive CPUs for %s', (_, pod) => {
  expect(allocated(managersOn('singleSocketSmt'), pod)).toEqual({ shared: '0-7', exclusive: [], refusals: [] });
});

test('the CPU manager assigns whole cores first, and then fills partly used ones', () => {
  const pods = [guaranteed('a', ['1']), guaranteed('b', ['2']), guaranteed('c', ['1'])];
  expect(allocated(managersOn('singleSocketSmt'), ...pods)).toEqual({
    shared: '0,3,6-7',
    exclusive: ['a/c0 4', 'b/c0 1,5', 'c/c0 2'],
    refusals: [],
  });
});

test('the CPU manager rejects a pod whose CPUs are not available, and assigns none to its other containers', () => {
  expect(allocated(managersOn('singleSocketSmt'), guaranteed('a', ['4', '4']))).toEqual({
    shared: '0-7',
    exclusive: [],
    refusals: [
      'UnexpectedAdmissionError: Allocate failed due to not enough cpus available to satisfy request: requested=4, available=3, which is unexpected',
    ],
  });
});

test('the CPU manager reuses the CPUs of init containers, but not those of sidecars', () => {
  const pod = guaranteed('a', ['2', '2'], ['4']);
  expect(allocated(managersOn('singleSocketSmt'), pod).exclusive).toEqual(['a/i0 1-2,5-6', 'a/c0 1,5', 'a/c1 2,6']);
  const sidecar = { ...containerWith('i0', limits('4')), restartPolicy: 'Always' as const };
  const [first] = pod.spec.containers;
  const withSidecar = { ...pod, spec: { ...pod.spec, initContainers: [sidecar], containers: first ? [first] : [] } };
  expect(allocated(managersOn('singleSocketSmt'), withSidecar).exclusive).toEqual(['a/i0 1-2,5-6', 'a/c0 3,7']);
});

test('the CPU manager releases the CPUs of a container, except those that another container of the pod has', () => {
  const managers = managersOn('singleSocketSmt');
  const allocation = allocateCpus(managers, initialAssignments(managers.cpuPolicy), guaranteed('a', ['2'], ['4']));
  if (!('assignments' in allocation)) throw new Error('the pod was refused');
  const released = releaseCpus(allocation.assignments, ({ container }) => container === 'i0');
  expect([formatCpuSet(released.shared), released.exclusive.length]).toEqual(['0,2-4,6-7', 1]);
  expect(formatCpuSet(releaseCpus(released, () => true).shared)).toBe('0-7');
});

test('a container retains the CPUs that it has', () => {
  const managers = managersOn('singleSocketSmt');
  const assignments: CpuAssignments = {
    shared: parseCpuSet('0-2,4-7'),
    exclusive: [{ podUid: 'a', container: 'c0', cpus: [3] }],
  };
  const allocation = allocateCpus(managers, assignments, guaranteed('a', ['1']));
  expect('assignments' in allocation && findAssignment(allocation.assignments, 'a', 'c0')?.cpus).toEqual([3]);
});

test.each([
  [guaranteed('a', ['3']), 'SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2'],
  [
    guaranteed('a', ['8']),
    'SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 6, requested CPUs = 8, CPUs per core = 2',
  ],
])('full-pcpus-only rejects a container that would share a core', (pod, message) => {
  const managers = managersOn('singleSocketSmt', { fullPcpusOnly: true });
  expect(allocated(managers, pod).refusals).toEqual([`SMTAlignmentError: ${message}`]);
});

test('strict-cpu-reservation excludes all containers from the reserved CPUs', () => {
  expect(allocated(managersOn('singleSocketSmt', { strictCpuReservation: true })).shared).toBe('1-7');
});

test('full-pcpus-only and strict-cpu-reservation together assign whole cores outside of the reserved CPUs', () => {
  const managers = managersOn('singleSocketSmt', { fullPcpusOnly: true, strictCpuReservation: true });
  expect(allocated(managers, guaranteed('a', ['3']), guaranteed('b', ['2']))).toEqual({
    shared: '2-4,6-7',
    exclusive: ['b/c0 1,5'],
    refusals: ['SMTAlignmentError: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2'],
  });
});

test('distribute-cpus-across-numa takes the same number of CPUs from each NUMA node', () => {
  const managers = managersOn('dualSocketSmt', { distributeCpusAcrossNuma: true });
  expect(allocated(managers, guaranteed('a', ['8'])).exclusive).toEqual(['a/c0 1-4,7-10']);
});

test('align-by-socket accepts CPUs of several NUMA nodes, if they are on as few sockets as possible', () => {
  const restricted = { name: 'restricted', isPerPod: false, prefersClosest: false } as const;
  // No NUMA node has 20 free CPUs.
  const others = parseCpuSet('10,20,30').map((cpu) => ({ podUid: 'other', container: `c${cpu}`, cpus: [cpu] }));
  const assignments = { shared: parseCpuSet('0-9,11-19,21-29,31-79'), exclusive: others };
  const allocate = (options: CpuPolicyOptions) =>
    allocateCpus(managersOn('dualSocketFourNodesSmt', options, restricted), assignments, guaranteed('a', ['20']));
  expect(allocate({})).toMatchObject({ refusal: { reason: 'TopologyAffinityError' } });
  const aligned = allocate({ alignBySocket: true });
  const cpus = ('assignments' in aligned && findAssignment(aligned.assignments, 'a', 'c0')?.cpus) || [];
  expect([cpus.length, intersectionOf(cpus, parseCpuSet('20-39,60-79'))]).toEqual([20, []]);
});

test('distribute-cpus-across-cores takes CPUs of different cores', () => {
  const managers = managersOn('singleSocketSmt', { distributeCpusAcrossCores: true });
  expect(allocated(managers, guaranteed('a', ['3'])).exclusive).toEqual(['a/c0 1-3']);
});

const singleNode: TopologyPolicy = { name: 'single-numa-node', isPerPod: false, prefersClosest: false };

test('single-numa-node rejects a container that does not fit on one NUMA node', () => {
  expect(allocated(managersOn('dualSocketSmt', {}, singleNode), guaranteed('a', ['7'])).refusals).toEqual([
    'TopologyAffinityError: Resources cannot be allocated with Topology locality',
  ]);
});

test('containers of a pod can be on different NUMA nodes, unless the scope is the pod', () => {
  const pod = guaranteed('a', ['5', '5']);
  expect(allocated(managersOn('dualSocketSmt', {}, singleNode), pod).exclusive).toEqual([
    'a/c0 2,4,6,8,10',
    'a/c1 1,3,5,7,9',
  ]);
  expect(allocated(managersOn('dualSocketSmt', {}, { ...singleNode, isPerPod: true }), pod).refusals).toEqual([
    'TopologyAffinityError: Resources cannot be allocated with Topology locality',
  ]);
});

test('requests and failures are counted for the metrics', () => {
  const managers = managersOn('singleSocketSmt', { fullPcpusOnly: true });
  const { counts } = allocateCpus(managers, initialAssignments(managers.cpuPolicy), guaranteed('a', ['2', '3']));
  expect(counts).toMatchObject({ pinningRequests: 2, pinningErrors: 1, physicalCpuAligned: 1, physicalCpuFailures: 1 });
});

const checkpointOf = (shared: string, exclusive = ''): CpuAssignments => ({
  shared: parseCpuSet(shared),
  exclusive: exclusive === '' ? [] : [{ podUid: 'pod', container: 'main', cpus: parseCpuSet(exclusive) }],
});

test.each<[string, CpuPolicyOptions, CpuAssignments, string | undefined]>([
  ['a host as before', {}, checkpointOf('0-5', '6-7'), undefined],
  ['nothing', {}, checkpointOf(''), undefined],
  ['no shared CPUs', {}, checkpointOf('', '6-7'), 'default cpuset cannot be empty'],
  [
    'a reserved CPU that is exclusive',
    {},
    checkpointOf('1-5', '0,6-7'),
    'not all reserved cpus: "0" are present in defaultCpuSet: "1-5"',
  ],
  [
    'a shared CPU that is strictly reserved',
    { strictCpuReservation: true },
    checkpointOf('0-5', '6-7'),
    'some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-5"',
  ],
  [
    'a CPU that is both shared and exclusive',
    {},
    checkpointOf('0-6', '6-7'),
    'pod: pod, container: main cpuset: "6-7" overlaps with default cpuset "0-6"',
  ],
  [
    'fewer CPUs than the host',
    {},
    checkpointOf('0-4', '5'),
    'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-5"',
  ],
  [
    'more CPUs than the host',
    {},
    checkpointOf('0-7', '8'),
    'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-8"',
  ],
])('a checkpoint with %s is validated as by a kubelet', (_, options, assignments, problem) => {
  expect(assignmentsProblem(policyOn('singleSocketSmt', options), assignments)).toBe(problem);
});

test('the first cores, or the configured CPUs, are reserved', () => {
  expect(policyOn('singleSocketSmt', {}, reserve(2)).reserved).toEqual([0, 4]);
  expect(policyOn('singleSocketSmt', {}, reserve(1.5)).reserved).toEqual([0, 4]);
  expect(policyOn('singleSocketSmt', {}, reserve(2, '1,6')).reserved).toEqual([1, 6]);
});

test.each([
  [reserve(0), '[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero'],
  [
    reserve(9),
    'new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of  did not equal 9)',
  ],
  [
    reserve(1, '0-1'),
    'new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of 0-1 did not equal 1)',
  ],
  [
    reserve(1, '9'),
    'new static policy error: [cpumanager] unable to build the reserved physical CPUs from the reserved set: unknown CPU ID: 9',
  ],
])('the CPU manager does not start with an impossible reservation', (reservation, message) => {
  expect(() => policyOn('singleSocketSmt', {}, reservation)).toThrow(message);
});
