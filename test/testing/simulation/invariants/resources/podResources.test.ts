import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import type { PodResources } from '../../../../../kubernetes/resources/resize.ts';
import { formatResourceCheckpoint } from '../../../../../kubernetes/resources/resourceCheckpoint.ts';
import type { Invariant, Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import {
  allocatedWithinNode,
  resizesApplied,
} from '../../../../../testing/simulation/invariants/resources/podResources.ts';
import { containerWith, podWith } from '../../../../fakes/pods.ts';

const requesting = (name: string, cpu: string, phase = 'Running'): Pod => ({
  ...podWith(name, { containers: [containerWith('main', { resources: { requests: { cpu } } })] }),
  status: { phase: phase as 'Running' | 'Failed' },
});

/** Returns the violations of a node at rest. The invariants read nothing else of it. */
function violations({ follow }: Invariant, watched: object): string[] {
  const messages: string[] = [];
  follow(watched as Watched, (message) => void messages.push(message)).atRest?.();
  return messages;
}

test.each([
  ['with room for both', ['1', '1'], 'Running', 0],
  ['with room for one', ['1', '1500m'], 'Running', 1],
  ['with room for the one that has not failed', ['1', '1500m'], 'Failed', 0],
])('the pods of a node %s', (_, [first = '', second = ''], phase, count) => {
  const pods = [requesting('a', first), requesting('b', second, phase)];
  const capacity = { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 5 };
  expect(violations(allocatedWithinNode, { agent: { pods: () => pods }, capacity })).toHaveLength(count);
});

const cpu = (amount: string): PodResources => ({
  containers: { main: { requests: { cpu: amount }, limits: { cpu: amount } } },
});

/** The violations of a pod that runs with 1 CPU, with these resources in the checkpoints. */
function checked(allocated: PodResources, actuated: PodResources, phase = 'Running'): string[] {
  const texts = [allocated, actuated].map((resources) => formatResourceCheckpoint(new Map([['uid', resources]])));
  const run = {
    id: 'c1',
    podUid: 'uid',
    podName: 'web',
    namespace: 'default',
    containerName: 'main',
    config: { linux: { resources: { cpuShares: 1024n, memoryLimitInBytes: 0n } } },
  };
  const host = {
    running: () => [run],
    files: {
      lstatSync: () => ({}),
      readFileSync: (path: string) => texts[path.endsWith('allocated_pods_state') ? 0 : 1],
    },
  };
  return violations(resizesApplied, { host, podOf: () => ({ status: { phase } }) });
}

test('a container with its allocated resources is no violation', () => {
  expect(checked(cpu('1'), cpu('1000m'))).toEqual([]);
});

test('a container whose actual resources differ from the allocated ones is a violation', () => {
  expect(checked(cpu('2'), cpu('1'))).toEqual([expect.stringContaining('main was allocated {"cpuRequest":2000')]);
  expect(checked(cpu('1'), { containers: {} })).toEqual([expect.stringContaining('and has undefined')]);
});

test('a container whose resources in both checkpoints differ from those in the runtime is a violation', () => {
  expect(checked(cpu('2'), cpu('2'))).toEqual([expect.stringContaining('main does not run with {"cpuRequest":2000')]);
});

test('a container of a pod that is ending is not checked', () => {
  expect(checked(cpu('2'), cpu('1'), 'Failed')).toEqual([]);
});
