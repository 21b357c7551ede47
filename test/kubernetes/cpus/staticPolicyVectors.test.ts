import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  assignCpus,
  type CpuAssignments,
  containerCpuHints,
  createCpuPolicy,
  podCpuHints,
} from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, NO_CPUS, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import type { ResourceHints } from '../../../kubernetes/cpus/topologyHints.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import {
  type CpuAllocationVector,
  type CpuHintVector,
  cpuAllocationVectors,
  cpuHintVectors,
  podCpuHintVectors,
} from './cpuPolicyVectors.ts';
import { kubeletHosts } from './topologies.ts';

function policyOf({ host, options = {} }: CpuHintVector | CpuAllocationVector, reserved = '') {
  const reservedCpus = parseCpuSet(reserved.replace('none', ''));
  const policy = createCpuPolicy(kubeletHosts[host], options, {
    reservedMillis: Math.max(1, reservedCpus.length) * 1_000,
    reservedCpus,
  });
  return reserved === 'none' ? { ...policy, reserved: NO_CPUS } : policy;
}

const stateOf = ({ shared, exclusive = [] }: CpuHintVector | CpuAllocationVector): CpuAssignments => ({
  shared: parseCpuSet(shared),
  exclusive: exclusive.map((text) => {
    const [name = '', cpus = ''] = text.split(' ');
    const [podUid = '', container = ''] = name.split('/');
    return { podUid, container, cpus: parseCpuSet(cpus) };
  }),
});

/** The pod of a vector and its container, with as much memory as the kubelet's test gives it. */
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

test.each(cpuAllocationVectors)('assigns the CPUs that a kubelet assigns: $title', expectAllocation);

test.each(cpuAllocationVectors.filter(({ isRegardlessOfOptions }) => isRegardlessOfOptions))(
  'assigns the same CPUs with full-pcpus-only: $title',
  (vector) => expectAllocation({ ...vector, options: { fullPcpusOnly: true } }),
);

/** A kubelet's test sorts the hints, because their order has no meaning. */
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
