import { expect, test } from '@jest/globals';
import { formatCpuSet, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { type TakenCpus, takeDistributed, takePacked } from '../../../kubernetes/cpus/takeCpus.ts';
import { type ChoiceVector, distributedChoices, packedChoices } from './cpuChoices.ts';
import { kubeletHosts } from './topologies.ts';

const shown = (taken: TakenCpus) => ('problem' in taken ? taken : { taken: formatCpuSet(taken.cpus) });

const expected = ({ taken = '', problem }: ChoiceVector) => (problem === undefined ? { taken } : { problem });

test.each(packedChoices)('packed CPUs are those that a kubelet chooses: $title', (vector) => {
  const { host, available, count, isSpreadOverCores = false, prefersUncoreCaches = false } = vector;
  const choice = { isSpreadOverCores, prefersUncoreCaches };
  expect(shown(takePacked(kubeletHosts[host], parseCpuSet(available), count, choice))).toEqual(expected(vector));
});

/** The packed choices that need no option and one NUMA node are also those of a distribution in groups of one CPU. */
const commonChoices = packedChoices.slice(0, 13).map((vector) => ({ ...vector, groupSize: 1 }));

test.each([...commonChoices, ...distributedChoices])(
  'CPUs distributed over NUMA nodes are those that a kubelet chooses: $title',
  (vector) => {
    const { host, available, count, groupSize } = vector;
    const taken = takeDistributed(
      kubeletHosts[host],
      parseCpuSet(available),
      { count, groupSize },
      { isSpreadOverCores: false },
    );
    expect(shown(taken)).toEqual(expected(vector));
  },
);
