import { describe, expect, test } from '@jest/globals';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

const REMOTE = 'registry.local/app:1';
const images = { registry: { [REMOTE]: { pullMs: 200 } } };

const web = () =>
  podWith('web', {
    initContainers: [containerWith('setup', { command: ['true'] })],
    containers: [containerWith('main', { image: REMOTE })],
  });

/** Summarizes what the runtime has of `web`, which each test here compares at its end. */
const picture = (node: SimulatedNode) => {
  const { sandboxes, containers } = node.runtime.contents();
  return {
    sandboxes: sandboxes.length,
    running: containers.filter(({ state }) => state === 1).map(({ metadata }) => metadata?.name),
  };
};

describe('a runtime that goes down', () => {
  test.each(Array.from({ length: 16 }, (_, i) => i * 50))(
    '%i ms after a pod arrives delays the pod only until seconds after its return',
    async (ms) => {
      const node = await simulatedNode({ pods: [web()], runtime: { images } });
      await node.advance(`${ms}ms`);
      node.runtime.down();
      await node.advance('10s');
      expect(node.agent.overview().runtime).toMatchObject({
        ready: false,
        message: expect.stringContaining('connection refused'),
      });
      expect(node.pod('web').phase).not.toBe('Failed');
      node.runtime.restart();
      await node.advance('3s');
      expect(node.agent.overview().runtime.ready).toBe(true);
      expect(node.pod('web').phase).toBe('Running');
      expect(picture(node)).toEqual({ sandboxes: 1, running: ['main'] });
    },
  );

  test('is detected within a second of the end of its event stream, and so is its return', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('7s');
    node.runtime.down();
    await node.advance('900ms');
    expect(node.agent.overview().runtime.ready).toBe(false);
    node.runtime.restart();
    await node.advance('900ms');
    expect(node.agent.overview().runtime.ready).toBe(true);
  });

  test('leaves a running pod Running and untouched', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('2s');
    const before = node.container('web');
    node.runtime.down();
    await node.advance('2m');
    expect(node.pod('web').phase).toBe('Running');
    node.runtime.restart();
    await node.advance('15s');
    expect(node.container('web')).toEqual(before);
    expect(node.calls('createContainer')).toHaveLength(1);
  });

  test('and returns without its containers, as after a reboot, gets them recreated', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('2s');
    node.runtime.down();
    await node.advance('10s');
    node.runtime.restart({ keepContainers: false });
    await node.advance('3s');
    expect(node.view('web').sandbox?.attempt).toBe(1);
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
    // The old sandbox is retained for the logs of its containers.
    expect(picture(node)).toEqual({ sandboxes: 2, running: ['main'] });
  });

  test.each(Array.from({ length: 8 }, (_, i) => i * 25))(
    '%i ms after a pod is removed delays the removal only until seconds after its return',
    async (ms) => {
      const node = await simulatedNode({ pods: [web()], runtime: { images } });
      await node.advance('3s');
      node.remove('web');
      await node.advance(`${ms}ms`);
      node.runtime.down();
      await node.advance('10s');
      node.runtime.restart();
      await node.advance('3s');
      expect(await node.leftovers()).toEqual([]);
    },
  );

  test('before a pod is added leaves the pod waiting with the reason, and the pod can be removed', async () => {
    const node = await simulatedNode();
    await node.advance('1s');
    node.runtime.down();
    node.apply(podWith('web'), podWith('short'));
    await node.advance('10s');
    expect(node.pod('web').phase).toBe('Pending');
    expect(node.agent.explain('web')?.pod).toMatchObject({ lastFailure: { reason: 'RuntimeUnavailable' } });
    node.remove('short');
    await node.advance('1s');
    expect(node.has('short')).toBe(false);
    node.runtime.restart();
    await node.advance('3s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('before the agent starts leaves the agent waiting for the first list while it shows the wanted pods', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('2s');
    const id = node.containerId('web');
    node.runtime.down();
    await node.restartAgent();
    await node.advance('10s');
    expect(node.agent.overview().state).toBe('starting');
    node.runtime.restart();
    await node.advance('3s');
    expect(node.containerId('web')).toBe(id);
    expect(node.pod('web').phase).toBe('Running');
  });

  test('leaves nothing of a pod that is added and removed while the node cannot start', async () => {
    const node = await simulatedNode();
    node.runtime.down();
    await node.advance('1s');
    node.apply(podWith('web'));
    await node.advance('1s');
    expect(node.pod('web').phase).toBe('Pending');
    node.apply(podWith('web', {}, { uid: 'another' }));
    await node.advance('1s');
    expect(node.views().map(({ pod }) => pod.metadata.uid)).toEqual(['another']);
    node.runtime.restart();
    node.remove('web');
    await node.advance('3s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('again and again causes neither duplicates nor losses', async () => {
    const node = await simulatedNode({ pods: [web(), podWith('other')], runtime: { images } });
    for (let i = 0; i < 12; i++) {
      await node.advance(`${37 * (i + 1)}ms`);
      node.runtime.restart();
    }
    await node.advance('5s');
    expect(node.pod('web').phase).toBe('Running');
    expect(picture(node)).toEqual({ sandboxes: 2, running: expect.arrayContaining(['main', 'main']) });
    node.remove('web', 'other');
    await node.advance('3s');
    expect(await node.leftovers()).toEqual([]);
  });
});

describe('a runtime that hangs', () => {
  test('in all calls leaves running pods alone and new ones waiting, and everything continues once it responds', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('2s');
    const fault = node.runtime.faults.add({ call: '*', times: Number.POSITIVE_INFINITY, hang: true });
    node.apply(podWith('late'));
    await node.advance('60s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.pod('late').phase).toBe('Pending');
    expect(node.agent.overview().runtime.ready).toBe(false);
    fault.release();
    await node.advance('15s');
    expect(node.agent.overview().runtime.ready).toBe(true);
    expect(node.pod('late').phase).toBe('Running');
    expect(picture(node)).toEqual({ sandboxes: 2, running: ['main', 'main'] });
  });

  test('forever while a pod terminates has its stop retried', async () => {
    const node = await simulatedNode({
      pods: [podWith('web', { terminationGracePeriodSeconds: 5 })],
      runtime: { behaviours: { [IMAGE]: {} } },
    });
    await node.advance('2s');
    node.runtime.faults.add({ call: 'stopContainer', hang: true });
    node.remove('web');
    await node.advance('60s');
    expect(node.has('web')).toBe(true);
    await node.advance('90s');
    expect(await node.leftovers()).toEqual([]);
  });
});
