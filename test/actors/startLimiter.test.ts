import { describe, expect, test } from '@jest/globals';
import type * as wire from '../../cri/generated/runtime.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

/** Durations of the runtime calls for which a slot is held. They are long, so that nothing else matters. */
const latency = { runPodSandbox: 1_000, createContainer: 100, startContainer: 500 };
const CALLS = ['runPodSandbox', 'createContainer', 'startContainer'] as const;

const burst = (count: number) => Array.from({ length: count }, (_, i) => podWith(`pod-${String(i).padStart(2, '0')}`));

/** Starts a node that receives the pods one after the other at the same time. */
async function nodeWith(pods: readonly Pod[], startSlots: number): Promise<SimulatedNode> {
  const node = await simulatedNode({ runtime: { latency }, config: { startSlots } });
  await node.advance('100ms');
  for (const pod of pods) {
    node.apply(pod);
    await node.advance('0ms');
  }
  return node;
}

/** Returns the maximum number of concurrent calls for starts. */
function mostAtOnce(node: SimulatedNode): number {
  const spans = CALLS.flatMap((call) => node.calls(call).map(({ at }) => ({ from: at, to: at + latency[call] })));
  return Math.max(...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length));
}

const order = (node: SimulatedNode): (string | undefined)[] =>
  node.calls('runPodSandbox').map(({ request }) => (request as wire.RunPodSandboxRequest).config?.metadata?.name);

const running = (node: SimulatedNode): string[] =>
  node.agent.pods().flatMap(({ metadata, status }) => (status?.phase === 'Running' ? [metadata.name] : []));

describe('the start limiter', () => {
  test.each([1, 2, 4])('runs at most %i starts at once when 30 pods arrive together', async (startSlots) => {
    const node = await simulatedNode({ pods: burst(30), runtime: { latency }, config: { startSlots } });
    await node.advance('90s');
    expect(running(node)).toHaveLength(30);
    expect(mostAtOnce(node)).toBe(startSlots);
    expect(node.agent.overview().limiters.start).toEqual({ capacity: startSlots, held: [], queue: [] });
  });

  test('serves pods first come, first served, and their containers before later pods, so the first pods are ready early', async () => {
    const pods = burst(30);
    const node = await nodeWith(pods, 2);
    await node.advance('14s');

    const names = pods.map(({ metadata }) => metadata.name);
    expect(order(node)).toEqual(names.slice(0, order(node).length));
    const done = running(node);
    expect(done.length).toBeGreaterThanOrEqual(14);
    expect(done).toEqual(names.slice(0, done.length));
    expect(order(node).length - done.length).toBeLessThanOrEqual(2);
  });

  test('shows the place of a pod in its queue in the explanation', async () => {
    const node = await nodeWith(burst(6), 2);
    await node.advance('500ms');
    expect(node.agent.explain('pod-00')?.pod.waitingFor).toBe('its sandbox to be created');
    expect(node.agent.explain('pod-02')?.pod).toMatchObject({
      state: 'sandboxing.creatingSandbox.queued',
      waitingFor: 'a start slot',
      queue: { place: 1 },
    });
    expect(node.agent.explain('pod-05')?.pod.queue).toMatchObject({ place: 4 });
    const own = node.agent.explainNode().node.children;
    expect(own.map(({ name, state }) => `${name}: ${state}`)).toEqual([
      'simulated: ready',
      'pleg: streaming',
      'test source: watching',
      'addresses: active',
      'ticker: active',
      'start: fullForNow',
      'pull: open',
      'admission: open',
      'cgroups: unused',
      'logRotation: waiting',
      'imageGarbage: collecting.waiting',
      'garbage: waiting',
    ]);
    expect(own.find(({ name }) => name === 'start')?.lists).toEqual({
      'held by': ['default/pod-00 (sandbox)', 'default/pod-01 (sandbox)'],
      queued: [2, 3, 4, 5].map((each) => `default/pod-0${each} (sandbox)`),
    });
    await node.advance('2s');
    expect(node.agent.explain('pod-00')?.pod.queue).toBeUndefined();
  });

  test('removes a deleted pod from the queue, and releases its slot', async () => {
    const node = await nodeWith(burst(5), 1);
    await node.advance('500ms');
    node.remove('pod-00', 'pod-02', 'pod-03');
    await node.advance('10s');
    expect(running(node)).toEqual(['pod-01', 'pod-04']);
    expect(order(node)).toEqual(['pod-00', 'pod-01', 'pod-04']);
  });

  test('lets hanging starts delay those of other pods for ten seconds, and no longer', async () => {
    const pods = ['hung-0', 'hung-1', 'web'].map((name) => podWith(name));
    const node = await simulatedNode({ runtime: { latency }, config: { startSlots: 2 } });
    const isHung = (request: wire.RunPodSandboxRequest) => request.config?.metadata?.name.startsWith('hung') ?? false;
    node.runtime.faults.add({ call: 'runPodSandbox', match: isHung, times: Number.POSITIVE_INFINITY, hang: true });
    for (const pod of pods) {
      node.apply(pod);
      await node.advance('100ms');
    }
    await node.advance('9s');
    expect(node.agent.explain('web')?.pod.waitingFor).toBe('a start slot');
    await node.advance('5s');
    expect(running(node)).toEqual(['web']);
    expect(node.agent.explain('hung-0')?.pod.waitingFor).toBe('its sandbox to be created');
  });

  test('assigns no slot to a pod that waits for an image or is in back-off', async () => {
    const node = await simulatedNode({ runtime: { latency }, config: { startSlots: 1 } });
    node.apply(
      podWith('no-image', { containers: [containerWith('main', { image: 'nowhere.local/x:1' })] }),
      podWith('crashing', { containers: [containerWith('main', { command: ['false'] })] }),
      podWith('web'),
    );
    await node.advance('8s');
    expect(node.containerView('crashing').state).toBe('ended.backingOff');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.agent.overview().limiters.start.held).toEqual([]);
  });
});
