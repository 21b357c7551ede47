import { expect, test } from '@jest/globals';
import { allocatePod } from '../../../kubernetes/cpus/allocatePod.ts';
import { createCpuPolicy } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { cpuSetOf, formatCpuSet, parseCpuSet, unionOf, without } from '../../../kubernetes/cpus/cpuSet.ts';
import { allCpus, cpusIn, partsOf } from '../../../kubernetes/cpus/cpuTopology.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import { type SharedCacheVector, sharedCacheVectors } from './sharedCacheVectors.ts';
import { kubeletHosts } from './topologies.ts';

/** Allocates CPUs to the pod of a vector. Returns the CPUs of each container. */
function allocatedCpus({ host, options, reserved, shared, taken = {}, containers }: SharedCacheVector) {
  const topology = kubeletHosts[host];
  const reservedCpus = parseCpuSet(reserved);
  const cpuPolicy = createCpuPolicy(topology, options, { reservedMillis: reservedCpus.length * 1_000, reservedCpus });
  const takenCpus = unionOf(
    parseCpuSet(taken.cpus ?? ''),
    cpusIn(topology.cpus, 'uncoreCache', parseCpuSet(taken.caches ?? '')),
  );
  const sharedCpus = shared === undefined ? allCpus(topology) : parseCpuSet(shared);
  const cpus = { shared: without(sharedCpus, unionOf(takenCpus, reservedCpus)), exclusive: [] };
  const pod = podWith('pod', {
    containers: containers.map((count, index) => {
      const amounts = { cpu: String(count), memory: '1G' };
      return containerWith(`c${index}`, { resources: { requests: amounts, limits: amounts } });
    }),
  });
  const allocation = allocatePod({ cpuPolicy }, { cpus }, pod);
  if ('refusal' in allocation) throw new Error(allocation.refusal.message);
  return allocation.assignments.cpus?.exclusive.map((each) => each.cpus) ?? [];
}

test.each(sharedCacheVectors)('aligns CPUs with last-level caches as a kubelet does: $title', (vector) => {
  const cpusOfContainers = allocatedCpus(vector);
  const [first] = cpusOfContainers;
  expect(cpusOfContainers.map(({ length }) => length)).toEqual(vector.containers);
  if (vector.cpus !== undefined) expect(first && formatCpuSet(first)).toBe(vector.cpus);
  const podCpus = new Set(cpuSetOf(cpusOfContainers.flat()));
  const usedCpus = kubeletHosts[vector.host].cpus.filter(({ cpu }) => podCpus.has(cpu));
  if (vector.caches !== undefined) expect(formatCpuSet(partsOf(usedCpus, 'uncoreCache'))).toBe(vector.caches);
});
