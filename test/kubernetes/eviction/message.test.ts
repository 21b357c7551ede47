import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { evictionMessage, pressureMessage } from '../../../kubernetes/eviction/message.ts';
import type { Observations } from '../../../kubernetes/eviction/pressure.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';
import type { ContainerUsage } from '../../../kubernetes/eviction/usage.ts';
import { aPod } from '../fixtures.ts';

const MI = 2 ** 20;
const MEMORY: Threshold = { signal: 'memory.available', value: '100Mi', graceMs: 0 };

const container = (name: string, memory: string): Container => ({
  name,
  image: 'busybox:1',
  ...(memory === '' ? {} : { resources: { requests: { memory } } }),
});
const init = (name: string, memory: string): Container => container(name, memory);
const sidecar = (name: string, memory: string): Container => ({ ...container(name, memory), restartPolicy: 'Always' });

/** The cases of `TestEvictionMessage` in `pkg/kubelet/eviction/helpers_test.go`, with usages in MiB. */
const CASES: readonly (readonly [string, Partial<PodSpec>, Readonly<Record<string, number>>, readonly string[]])[] = [
  [
    'no container',
    { initContainers: [init('init1', '100Mi'), sidecar('side1', '200Mi')], containers: [container('main', '200Mi')] },
    { side1: 150, main: 100 },
    [],
  ],
  [
    'an init container',
    { initContainers: [init('init1', '100Mi'), sidecar('side1', '200Mi')], containers: [container('main', '200Mi')] },
    { init1: 150 },
    ['init1 150Mi 100Mi'],
  ],
  [
    'a sidecar',
    {
      initContainers: [init('init1', '100Mi'), sidecar('side1', '200Mi'), sidecar('side2', '200Mi')],
      containers: [container('main', '200Mi')],
    },
    { side1: 250, side2: 150, main: 200 },
    ['side1 250Mi 200Mi'],
  ],
  [
    'a regular container',
    { containers: [container('main', '200Mi'), container('other', '300Mi')] },
    { main: 250, other: 250 },
    ['main 250Mi 200Mi'],
  ],
  [
    'no ephemeral container, which cannot have requests',
    {
      containers: [container('main', '200Mi')],
      ephemeralContainers: [{ name: 'debug', image: 'busybox:1', targetContainerName: 'main' }],
    },
    { main: 150, debug: 250 },
    [],
  ],
  [
    'containers without requests',
    { initContainers: [sidecar('side1', ''), sidecar('side2', '300Mi')], containers: [container('main', '')] },
    { side1: 250, side2: 250, main: 200 },
    ['side1 250Mi 0', 'main 200Mi 0'],
  ],
  [
    'several containers',
    {
      initContainers: [sidecar('side1', '100Mi'), sidecar('side2', '200Mi'), sidecar('side3', '300Mi')],
      containers: [container('one', '300Mi'), container('two', '200Mi'), container('three', '100Mi')],
    },
    { side1: 150, side2: 250, side3: 250, one: 50, two: 250, three: 400 },
    ['side1 150Mi 100Mi', 'side2 250Mi 200Mi', 'two 250Mi 200Mi', 'three 400Mi 100Mi'],
  ],
];

const usageOf = (usages: Readonly<Record<string, number>>, memoryBytes?: number) => ({
  memoryBytes,
  containers: Object.entries(usages).map(([name, mebibytes]) => ({ name, memoryBytes: mebibytes * MI })),
  volumes: [],
});

describe('C28: the message of an eviction names', () => {
  test.each(CASES)('%s', (_, spec, usages, offenders) => {
    const { message, annotations } = evictionMessage(aPod(spec), {
      threshold: MEMORY,
      observations: {},
      usage: usageOf(usages),
    });
    const sentences = offenders.map((offender) => {
      const [name, used, request] = offender.split(' ');
      return `Container ${name} was using ${used}, request is ${request}, has larger consumption of memory. `;
    });
    expect(message).toBe(`The node was low on resource: memory. ${sentences.join('')}`);
    expect(annotations).toEqual({
      offending_containers: offenders.map((offender) => offender.split(' ')[0]).join(','),
      offending_containers_usage: offenders.map((offender) => offender.split(' ')[1]).join(','),
      starved_resource: 'memory',
    });
  });

  test('the pod before its containers, if it has a request of its own', () => {
    const pod = aPod({
      resources: { requests: { memory: '250Mi' }, limits: { memory: '1000Mi' } },
      containers: [container('one', ''), container('two', '')],
    });
    const usage = usageOf({ one: 250, two: 350 }, 600 * MI);
    const { message, annotations } = evictionMessage(pod, { threshold: MEMORY, observations: {}, usage });
    expect(message).toBe(
      'The node was low on resource: memory. ' +
        'Pod web was using 600Mi, request is 250Mi, has larger consumption of memory. ' +
        'Container one was using 250Mi, request is 0, has larger consumption of memory. ' +
        'Container two was using 350Mi, request is 0, has larger consumption of memory. ',
    );
    expect(annotations).toMatchObject({ offending_pod: 'web', offending_pod_usage: '600Mi' });
  });

  // The messages that `Test…_VerifyPodStatus` in `eviction_manager_test.go` expect.
  test.each<[Threshold, Observations, string]>([
    [
      { signal: 'memory.available', value: '2Gi', graceMs: 0 },
      { 'memory.available': { available: 1_536 * MI, capacity: 4_096 * MI, at: 0 } },
      'The node was low on resource: memory. Threshold quantity: 2Gi, available: 1536Mi. ',
    ],
    [
      { signal: 'pid.available', value: '1200', graceMs: 0 },
      { 'pid.available': { available: 600, capacity: 2_000, at: 0 } },
      'The node was low on resource: pids. Threshold quantity: 1200, available: 600. ',
    ],
    [
      { signal: 'nodefs.available', value: '2Gi', graceMs: 0 },
      { 'nodefs.available': { available: 1_536 * MI, capacity: 4_096 * MI, at: 0 } },
      'The node was low on resource: ephemeral-storage. Threshold quantity: 2Gi, available: 1536Mi. ',
    ],
    [
      { signal: 'imagefs.inodesFree', value: '5%', graceMs: 0 },
      { 'imagefs.inodesFree': { available: 3_000, capacity: 655_360, at: 0 } },
      'The node was low on resource: inodes. Threshold quantity: 32Ki, available: 3k. ',
    ],
  ])('the threshold and the amount left (%j)', (threshold, observations, expected) => {
    expect(evictionMessage(aPod(), { threshold, observations, usage: undefined })).toEqual({
      message: expected,
      annotations: {},
    });
  });

  test.each<[string, ContainerUsage, string]>([
    [
      'a container whose layer and logs exceed its request',
      { name: 'main', rootfs: { bytes: 60 * MI }, logs: { bytes: 50 * MI } },
      'Container main was using 110Mi, request is 100Mi, has larger consumption of ephemeral-storage. ',
    ],
    ['no container whose logs are unknown', { name: 'main', rootfs: { bytes: 200 * MI } }, ''],
    ['no container within its request', { name: 'main', rootfs: { bytes: 60 * MI }, logs: { bytes: 40 * MI } }, ''],
  ])('%s', (_, containerUsage, sentence) => {
    const resources = { requests: { 'ephemeral-storage': '100Mi' } };
    const pod = aPod({ containers: [{ name: 'main', image: 'busybox:1', resources }] });
    const threshold: Threshold = { signal: 'nodefs.available', value: '10%', graceMs: 0 };
    const usage = { containers: [containerUsage], volumes: [] };
    const { message } = evictionMessage(pod, { threshold, observations: {}, usage });
    expect(message).toBe(`The node was low on resource: ephemeral-storage. ${sentence}`);
  });
});

test('C28: a node under pressure lists its conditions like a kubelet', () => {
  expect(pressureMessage(['MemoryPressure'])).toBe('The node had condition: [MemoryPressure]. ');
  expect(pressureMessage(['MemoryPressure', 'DiskPressure'])).toBe(
    'The node had condition: [MemoryPressure DiskPressure]. ',
  );
});
