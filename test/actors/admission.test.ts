import { readdir } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { openNodeStore } from '../../actors/store/durableFacts.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../fakes/pods.ts';

const small = { capacity: { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 3 } };

const asking = (name: string, requests: Record<string, string>): Pod =>
  podWith(name, { containers: [containerWith('main', { resources: { requests } })] });

const listening = (name: string, hostPort: number): Pod =>
  podWith(name, { containers: [containerWith('main', { ports: [{ containerPort: 80, hostPort }] })] });

describe('admission', () => {
  test.each<[string, Pod[], string, string]>([
    [
      'cpu',
      [asking('a', { cpu: '1500m' }), asking('b', { cpu: '600m' })],
      'OutOfcpu',
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000",
    ],
    [
      'memory',
      [asking('a', { memory: '1000Mi' }), asking('b', { memory: '100Mi' })],
      'OutOfmemory',
      "Pod was rejected: Node didn't have enough resource: memory, requested: 104857600, used: 1048576000, capacity: 1073741824",
    ],
    [
      'host ports',
      [listening('a', 8080), listening('b', 8080)],
      'NodePorts',
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    [
      'the number of pods',
      [podWith('x'), podWith('y'), podWith('a'), podWith('b')],
      'OutOfpods',
      "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    ],
  ])(
    'C24: a pod that does not fit on the node is Failed (%s), and is admitted when it is recreated after resources are freed',
    async (_, pods, reason, message) => {
      const node = await simulatedNode({ pods, config: small });
      await node.advance('5s');
      expect(node.pod('a').phase).toBe('Running');
      expect(node.pod('b')).toMatchObject({ phase: 'Failed', reason, message });
      expect(node.calls('runPodSandbox')).toHaveLength(pods.length - 1);
      const running = pods.length - 1;
      expect(node.agent.explainNode().answer).toBe(
        `node node-1 is running ${running} ${running === 1 ? 'pod' : 'pods'}; 1 more has ended or been rejected`,
      );
      await node.advance('30s');
      expect(node.pod('b').phase).toBe('Failed');
      const refused = pods.find(({ metadata }) => metadata.name === 'b');
      node.remove('a', 'b');
      await node.advance('3s');
      node.apply(podWith('b', refused?.spec, { uid: 'another' }));
      await node.advance('3s');
      expect(node.pod('b').phase).toBe('Running');
    },
  );

  test.each([
    ['host port', listening('a', 8080), listening('b', 8080), 'host port 8080/TCP is in use by pod a'],
    [
      'memory',
      asking('a', { memory: '1000Mi' }),
      asking('b', { memory: '100Mi' }),
      "requests 100Mi of memory, but 1000Mi of the node's 1Gi are allocated to pod a",
    ],
  ])(
    'the explanation of a rejected pod names the pod that uses the %s, even after an agent restart',
    async (_, holding, refused, cause) => {
      const node = await simulatedNode({ pods: [holding], config: small });
      await node.advance('5s');
      await node.restartAgent();
      await node.advance('5s');
      node.apply(refused);
      await node.advance('5s');
      expect(node.agent.explain('b')?.answer).toContain(cause);
    },
  );

  test('C24: a rejection is not remembered across an agent restart', async () => {
    const node = await simulatedNode({
      pods: [asking('a', { cpu: '1500m' }), asking('b', { cpu: '600m' })],
      config: small,
    });
    await node.advance('5s');
    expect(node.pod('b')).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
    expect(await readdir(node.path('root/statelet/statuses'))).toEqual([]);
    node.remove('a');
    await node.advance('5s');
    expect(node.pod('b').phase).toBe('Failed');
    await node.restartAgent();
    await node.advance('5s');
    expect(node.pod('b')).toMatchObject({ phase: 'Running' });
    expect(node.pod('b').reason).toBeUndefined();
  });

  test('C24: a rejection that an older version persisted is ignored after an agent restart', async () => {
    const node = await simulatedNode({
      pods: [asking('a', { cpu: '1500m' }), asking('b', { cpu: '600m' })],
      config: small,
    });
    await node.advance('5s');
    const { store } = await openNodeStore(node.path('root'));
    await store.write('statuses', 'b-uid', node.pod('b'));
    node.remove('a');
    await node.advance('5s');
    await node.restartAgent();
    await node.advance('5s');
    expect(node.pod('b').phase).toBe('Running');
  });

  test('a completed pod frees its resources although the pod still exists', async () => {
    const job = podRunning('job', 'exit 0', { restartPolicy: 'Never' });
    const node = await simulatedNode({ pods: [job], config: { capacity: { ...small.capacity, pods: 1 } } });
    await node.advance('3s');
    node.apply(podWith('web'));
    await node.advance('3s');
    expect(node.pod('job').phase).toBe('Succeeded');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('C24: a new pod with the same full name waits until the old pod has fully terminated', async () => {
    const behaviours = { [IMAGE]: { termAfterMs: 5_000 } };
    const node = await simulatedNode({ pods: [podWith('web', {}, { uid: 'old' })], runtime: { behaviours } });
    await node.advance('2s');
    node.apply(podWith('web', {}, { uid: 'new' }));
    await node.advance('4s');
    expect(node.views().map(({ pod, state }) => [pod.metadata.uid, state])).toEqual([
      ['old', 'terminating.stoppingContainers.graceful'],
      ['new', 'admitting'],
    ]);
    expect(node.agent.explainUid('new')?.answer).toBe(
      'pod web is waiting for the earlier pod of the same name, with UID old, to be removed',
    );
    expect(node.calls('runPodSandbox')).toHaveLength(1);
    await node.advance('4s');
    expect(node.views().map(({ pod }) => pod.metadata.uid)).toEqual(['new']);
    expect(node.pod('web').phase).toBe('Running');
  });
});

describe('an in-place update', () => {
  const two = (more: Partial<Container> = {}) =>
    podWith('web', { containers: [containerWith('main', more), containerWith('helper')] });

  test('C6: recreates only the container whose image changed', async () => {
    const node = await simulatedNode({
      pods: [two()],
      runtime: { images: { registry: { 'registry.local/app:2': {} } } },
    });
    await node.advance('2s');
    const [main, helper] = [node.containerId('web'), node.containerId('web', 'helper')];
    node.apply(two({ image: 'registry.local/app:2' }));
    await node.advance('5s');
    expect(node.containerId('web', 'helper')).toBe(helper);
    expect(node.containerId('web')).not.toBe(main);
    expect(node.container('web')).toMatchObject({ image: 'registry.local/app:2', restartCount: 1, ready: true });
    expect(node.calls('runPodSandbox')).toHaveLength(1);
  });

  test('C6: recreates no container when a command or label changes', async () => {
    const node = await simulatedNode({ pods: [two()] });
    await node.advance('2s');
    const before = node.calls('createContainer').length;
    node.apply(two({ args: ['--verbose'] }));
    await node.advance('5s');
    expect(node.calls('createContainer')).toHaveLength(before);
    expect(node.view('web').pod.spec.containers[0]?.args).toEqual(['--verbose']);
  });

  test('C6: replaces a container when its name changes', async () => {
    const node = await simulatedNode({ pods: [two()] });
    await node.advance('2s');
    const main = node.containerId('web');
    node.apply(podWith('web', { containers: [containerWith('main'), containerWith('other')] }));
    await node.advance('5s');
    expect(node.containerId('web')).toBe(main);
    expect(node.container('web', 'other').ready).toBe(true);
    expect(node.pod('web').containerStatuses?.map(({ name }) => name)).toEqual(['main', 'other']);
    const running = node.runtime.contents().containers.filter(({ state }) => state === 1);
    expect(running.map(({ metadata }) => metadata?.name).sort()).toEqual(['main', 'other']);
  });

  test('C6: applies a change that was made while the agent was down', async () => {
    const node = await simulatedNode({
      pods: [two()],
      runtime: { images: { registry: { 'registry.local/app:2': {} } } },
    });
    await node.advance('2s');
    const helper = node.containerId('web', 'helper');
    node.killAgent();
    node.apply(two({ image: 'registry.local/app:2' }));
    await node.startAgent();
    await node.advance('5s');
    expect(node.container('web')).toMatchObject({ image: 'registry.local/app:2', ready: true });
    expect(node.containerId('web', 'helper')).toBe(helper);
  });

  test('is rejected if it does not fit on the node, and the old version continues to run', async () => {
    const node = await simulatedNode({ pods: [asking('a', { cpu: '1' }), asking('b', { cpu: '1' })], config: small });
    await node.advance('2s');
    node.apply(asking('b', { cpu: '1500m' }));
    await node.advance('5s');
    expect(node.pod('b').phase).toBe('Running');
    expect(node.view('b').pod.spec.containers[0]?.resources?.requests).toEqual({ cpu: '1' });
    expect(node.calls('createContainer')).toHaveLength(2);
    expect(node.agent.explain('b')?.pod.facts).toEqual([
      "update not admitted: Deferred: requests 1.5 CPUs, but 1 of the node's 2 are allocated to pod a",
    ]);
    node.remove('a');
    await node.advance('5s');
    expect(node.view('b').pod.spec.containers[0]?.resources?.requests).toEqual({ cpu: '1500m' });
    expect(node.agent.explain('b')?.pod.facts).toEqual([]);
  });
});
