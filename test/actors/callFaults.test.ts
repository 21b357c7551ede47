import { describe, expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const REMOTE = 'registry.local/app:1';
const images = { registry: { [REMOTE]: { pullMs: 200 } } };
const ALWAYS = Number.POSITIVE_INFINITY;

const web = () => podWith('web', { containers: [containerWith('main', { image: REMOTE })] });

describe('a lost reply', () => {
  test.each(
    (['error', 'timeout'] as const).flatMap((lostReply) =>
      (['pullImage', 'runPodSandbox', 'createContainer', 'startContainer'] as const).map(
        (call) => [call, lostReply] as const,
      ),
    ),
  )('of %s (%s) does not start the pod twice', async (call, lostReply) => {
    const node = await simulatedNode({ pods: [web()], runtime: { images }, config: { pullLimitMs: 3_600_000 } });
    const fault = node.runtime.faults.add({ call, lostReply });
    await node.advance(lostReply === 'error' ? '15s' : call === 'pullImage' ? '61m' : '5m');
    expect(fault.countHits()).toBe(1);
    expect(node.pod('web').phase).toBe('Running');
    expect(node.container('web').restartCount).toBe(0);
    expect(node.runtime.contents()).toMatchObject({
      sandboxes: [{ metadata: { attempt: 0 } }],
      containers: [{ state: 1 }],
    });
    node.remove('web');
    await node.advance('5s');
    expect(await node.leftovers()).toEqual([]);
  });

  test.each(
    (['error', 'timeout'] as const).flatMap((lostReply) =>
      (['stopContainer', 'stopPodSandbox', 'removePodSandbox'] as const).map((call) => [call, lostReply] as const),
    ),
  )('of %s (%s) does not prevent the complete removal of the pod', async (call, lostReply) => {
    const node = await simulatedNode({ pods: [web()], runtime: { images } });
    await node.advance('3s');
    const fault = node.runtime.faults.add({ call, lostReply });
    node.remove('web');
    await node.advance('5m');
    expect(fault.countHits()).toBe(1);
    expect(await node.leftovers()).toEqual([]);
  });

  test('of removeContainer is followed by a retry that removes the dead container', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('1s');
    const fault = node.runtime.faults.add({ call: 'removeContainer', lostReply: 'error' });
    for (let i = 0; i < 4; i++) {
      node.runtime.exitContainer(node.containerId('web'), 1);
      await node.advance('2m');
    }
    expect(fault.countHits()).toBe(1);
    expect(node.container('web')).toMatchObject({ restartCount: 4, ready: true });
    expect(node.runtime.contents().containers).toHaveLength(2);
  });
});

describe('a runtime error', () => {
  test('while creating a sandbox is reported as FailedCreatePodSandBox, and the creation is retried', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    const error = { message: 'plugin type="bridge" failed: no free address' };
    const fault = node.runtime.faults.add({ call: 'runPodSandbox', times: ALWAYS, error });
    await node.advance('35s');
    expect(node.pod('web').phase).toBe('Pending');
    expect(node.container('web').state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    expect(node.view('web')).toMatchObject({
      lastFailure: { reason: 'FailedCreatePodSandBox', message: expect.stringContaining('no free address') },
      until: expect.any(Number),
    });
    expect(fault.countHits()).toBe(4);
    expect(node.agent.explain('web')?.answer).toContain('no free address');
    fault.release();
    await node.advance('11s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('while creating a container is shown as its waiting reason, and the creation is retried', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    const error = { message: 'failed to generate spec: no such device' };
    const fault = node.runtime.faults.add({ call: 'createContainer', times: ALWAYS, error });
    await node.advance('25s');
    expect(node.container('web').state?.waiting).toMatchObject({
      reason: 'CreateContainerError',
      message: expect.stringContaining('no such device'),
    });
    expect(fault.countHits()).toBe(3);
    fault.release();
    await node.advance('11s');
    expect(node.container('web')).toMatchObject({ restartCount: 0, ready: true });
  });

  test.each(['stopContainer', 'stopPodSandbox', 'removePodSandbox'] as const)(
    'in a single call of %s is retried until the pod is completely removed',
    async (call) => {
      const node = await simulatedNode({ pods: [podWith('web')] });
      await node.advance('1s');
      const fault = node.runtime.faults.add({ call, error: { message: 'device or resource busy' } });
      node.remove('web');
      await node.advance('15s');
      expect(fault.countHits()).toBe(1);
      expect(await node.leftovers()).toEqual([]);
    },
  );

  test.each([
    'listPodSandbox',
    'listContainers',
    'containerStatus',
    'podSandboxStatus',
    'status',
    'imageStatus',
  ] as const)('in three consecutive calls of %s does not prevent the pod from running', async (call) => {
    const node = await simulatedNode();
    node.runtime.faults.add({ call, times: 3, error: { message: 'try again' } });
    node.apply(podWith('web'));
    await node.advance('2m');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.container('web').ready).toBe(true);
    expect(node.runtime.contents()).toMatchObject({ sandboxes: [expect.anything()], containers: [{ state: 1 }] });
  });

  test('does not delay other pods', async () => {
    const node = await simulatedNode({ pods: ['a', 'b', 'c'].map((name) => podWith(name)), config: { startSlots: 1 } });
    const forA = (request: { config?: { metadata?: { name: string } | undefined } | undefined }) =>
      request.config?.metadata?.name === 'a';
    node.runtime.faults.add({ call: 'runPodSandbox', times: ALWAYS, match: forA, error: { message: 'no' } });
    await node.advance('2s');
    expect([node.pod('b').phase, node.pod('c').phase, node.pod('a').phase]).toEqual(['Running', 'Running', 'Pending']);
  });
});
