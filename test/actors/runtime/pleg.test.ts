import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { observeRuntime } from '../../../actors/runtime/pleg.ts';
import type { RelistStats } from '../../../actors/runtime/relistRequests.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { ContainerEventType, PodSandboxState, PodSandboxStatusResponse } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';

async function runningNode(eventStream = true): Promise<SimulatedNode> {
  const node = await simulatedNode({ pods: [podWith('web'), podWith('other')], eventStream });
  await node.advance('33s');
  return node;
}

/** Returns the time in milliseconds from now until the agent creates the replacement of the container of `web`. */
async function replacementAfter(node: SimulatedNode, exit: () => void): Promise<number | undefined> {
  const from = node.clock.now();
  const before = node.calls('createContainer').length;
  exit();
  await node.advance('12s');
  const replacement = node.calls('createContainer')[before];
  return replacement && replacement.at - from;
}

describe('the PLEG', () => {
  test('learns of an exit from the event stream without polling', async () => {
    const node = await runningNode();
    const after = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('web'), 1));
    expect(after).toBeLessThan(20);
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
  });

  test.each(['dropped', 'paused'] as const)(
    'detects an exit by its list every 10 s if the events of the stream are %s',
    async (how) => {
      const node = await runningNode();
      node.runtime.events.setDeliveryMode(how);
      const after = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('web'), 1));
      expect(after).toBeGreaterThan(20);
      expect(after).toBeLessThanOrEqual(10_100);
      node.runtime.events.setDeliveryMode('normal');
      await node.advance('12s');
      expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
    },
  );

  test('without an event stream detects an exit by the list every second', async () => {
    const node = await runningNode(false);
    const after = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('web'), 1));
    expect(after).toBeLessThanOrEqual(1_100);
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
  });

  test('reopens a broken stream, and detects missed events by the list that follows', async () => {
    const node = await runningNode();
    node.runtime.restart();
    const after = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('web'), 1));
    expect(after).toBeLessThanOrEqual(2_000);
    const again = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('other'), 1));
    expect(again).toBeLessThan(20);
  });

  test('is shown by explain node with the state of its stream, the reason if there is none, and a failing list', async () => {
    const node = await runningNode();
    const shown = () => node.agent.explainNode().node.children.find(({ name }) => name === 'pleg');
    expect(shown()).toMatchObject({ state: 'streaming', facts: ['lists the runtime every 10s'] });
    node.runtime.down();
    await node.advance('11s');
    expect(shown()).toMatchObject({
      state: 'failing',
      waitingFor: 'the runtime to list its pods, retried every second',
      lastFailure: { reason: 'RuntimeUnavailable' },
    });
    node.runtime.restart();
    await node.advance('2s');
    expect(shown()).toMatchObject({ state: 'streaming' });
    expect(shown()).not.toHaveProperty('lastFailure');
    const without = await runningNode(false);
    const polling = without.agent.explainNode().node.children.find(({ name }) => name === 'pleg');
    expect(polling).toMatchObject({ state: 'polling', lastFailure: { reason: 'Unimplemented' } });
  });

  test('reports a stream that cannot be opened once, however often it retries', async () => {
    const node = await runningNode(false);
    const reported = node.entries.filter(({ value }) => JSON.stringify(value).includes('plegChanged'));
    expect(reported).toHaveLength(1);
  });

  test.each([
    ['every 10 s with a stream', true, 6],
    ['every second without one', false, 60],
  ])('sends two list calls %s and no call for a pod while nothing changes', async (_, eventStream, lists) => {
    const node = await runningNode(eventStream);
    const before = node.runtime.calls.length;
    await node.advance('60s');
    const counts = new Map<string, number>();
    for (const { call } of node.runtime.calls.slice(before)) counts.set(call, (counts.get(call) ?? 0) + 1);
    const { status: _health, ...rest } = Object.fromEntries(counts);
    expect(Object.keys(rest).sort()).toEqual(['listContainers', 'listPodSandbox']);
    for (const times of Object.values(rest)) {
      expect(times).toBeGreaterThanOrEqual(lists - 1);
      expect(times).toBeLessThanOrEqual(lists + 1);
    }
  });

  test('checks again shortly after an event that precedes the exit in the status, and never takes the event as the fact', async () => {
    const node = await runningNode();
    node.runtime.eventLeadMs = 200;
    const id = node.containerId('web');
    node.runtime.exitContainer(id, 7);
    await node.advance('150ms');
    expect(node.container('web').state).toHaveProperty('running');
    expect(node.calls('containerStatus').length).toBeGreaterThan(0);
    const after = await replacementAfter(node, () => {});
    expect(after).toBeLessThan(1_000);
    expect(node.container('web')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 7 } } });
  });

  test('checks a sandbox after a stop event until the runtime shows that it has stopped', async () => {
    const node = await runningNode();
    const id = node.sandboxId('web');
    const type = ContainerEventType.CONTAINER_STOPPED_EVENT;
    node.runtime.events.emit({ type, id, sandboxId: id, podUid: 'web-uid', at: node.clock.now() });
    await node.advance('200ms');
    expect(node.sandboxId('web')).toBe(id);
    node.runtime.events.setDeliveryMode('dropped');
    node.runtime.killSandbox(id);
    await node.advance('1s');
    expect(node.view('web').sandbox?.attempt).toBe(1);
  });

  test('ignores an event that the status never confirms', async () => {
    const node = await runningNode();
    node.runtime.eventLeadMs = 3_600_000;
    node.runtime.exitContainer(node.containerId('web'), 1);
    await node.advance('60s');
    expect(node.container('web')).toMatchObject({ restartCount: 0, ready: true });
    expect(node.calls('createContainer')).toHaveLength(2);
  });

  test('ignores duplicate events', async () => {
    const node = await runningNode();
    node.runtime.events.setDeliveryMode('doubled');
    await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('web'), 1));
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
    expect(node.calls('createContainer')).toHaveLength(3);
  });

  test('needs no list and no extra status call for containers that the agent stops', async () => {
    const node = await runningNode();
    const before = node.runtime.calls.length;
    node.remove('web');
    await node.advance('2s');
    expect(node.has('web')).toBe(false);
    const calls = node.runtime.calls.slice(before).map(({ call }) => call);
    expect(calls.filter((call) => call === 'podSandboxStatus' || call === 'listPodSandbox')).toEqual([]);
    // This call tells the agent how the stopped container has exited.
    expect(calls.filter((call) => call === 'containerStatus')).toHaveLength(1);
  });

  test('shares lists among many sandboxes that exit in short succession', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
    const node = await simulatedNode({ pods: names.map((name) => podWith(name)) });
    await node.advance('33s');
    const before = node.calls('listPodSandbox').length;
    for (const name of names) {
      node.runtime.killSandbox(node.sandboxId(name));
      await node.advance('10ms');
    }
    expect(node.calls('listPodSandbox').length - before).toBeLessThanOrEqual(3);
    await node.advance('30s');
    for (const name of names) expect(node.view(name).sandbox?.attempt).toBe(1);
  });

  test('notices a sandbox that is created and lost between two lists', async () => {
    const node = await simulatedNode({ pods: [podWith('web')], eventStream: false });
    await node.advance('2s');
    node.apply(podWith('late'));
    await node.advance('500ms');
    node.runtime.removeSandbox(node.sandboxId('late'));
    await node.advance('10s');
    expect(node.view('late').sandbox?.attempt).toBe(1);
    expect(node.container('late')).toMatchObject({ restartCount: 1, ready: true });
  });

  describe('a container whose status cannot be read', () => {
    const unreadable = (node: SimulatedNode, id: string) =>
      node.runtime.faults.add({
        call: 'containerStatus',
        times: Number.POSITIVE_INFINITY,
        match: ({ containerId }) => containerId === id,
        error: { message: 'broken shim' },
      });

    test('does not hide other pods, and hides its own pod only until it can be read', async () => {
      const node = await runningNode(false);
      const fault = unreadable(node, node.containerId('web'));
      node.runtime.exitContainer(node.containerId('web'), 7);
      await node.advance('2s');
      const after = await replacementAfter(node, () => node.runtime.exitContainer(node.containerId('other'), 1));
      expect(after).toBeLessThanOrEqual(1_100);
      expect(node.container('web').restartCount).toBe(0);
      fault.release();
      await node.advance('3s');
      expect(node.container('web')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 7 } } });
    });

    test('does not prevent the node from starting, and its pod is adopted with its actual exit', async () => {
      const job = podRunning('job', 'sleep 1; exit 0', { restartPolicy: 'Never' });
      const node = await simulatedNode({ pods: [podWith('web')] });
      node.apply(job);
      await node.advance('500ms');
      const fault = unreadable(node, node.containerId('job'));
      node.killAgent();
      await node.advance('2s');
      await node.startAgent();
      await node.advance('2s');
      expect(node.agent.overview().state).toBe('running');
      expect(node.container('web').ready).toBe(true);
      fault.release();
      await node.advance('1m');
      expect(node.pod('job').phase).toBe('Succeeded');
      expect(node.calls('startContainer')).toHaveLength(2);
    });
  });
});

test('an aborted wait for the runtime or for an exit leaves no timer', async () => {
  const clock = new SimulatedClock();
  const runtime = createSimulatedRuntime({ clock });
  const cri = inProcessCri(runtime);
  const ending = new AbortController();
  const silent = {
    sendFact: () => {},
    onError: () => {},
    onStreamBroken: () => {},
    takeChanged: () => [],
    takeFound: () => [],
  };
  // Reports every requested sandbox as ready, even if it has stopped.
  const podSandboxStatus: typeof cri.podSandboxStatus = async ({ podSandboxId: id }) =>
    PodSandboxStatusResponse.create({ status: { id, state: PodSandboxState.SANDBOX_READY } });
  const observing = observeRuntime({
    cri: { ...cri, podSandboxStatus },
    files: new MemoryFiles(
      new MemoryDisk(
        () => clock.now(),
        () => clock.now(),
      ),
    ),
    clock,
    signal: ending.signal,
    ...silent,
    isBeingStopped: () => false,
  });
  await clock.advance(1_500);
  const listeners = () => getEventListeners(ending.signal, 'abort').length;
  const before = listeners();
  runtime.down();
  await clock.advance(60_000);
  runtime.restart();
  await clock.advance(2_000);
  const type = ContainerEventType.CONTAINER_STOPPED_EVENT;
  for (let count = 0; count < 10; count += 1)
    runtime.events.emit({ id: `${count}`, type, sandboxId: '', podUid: '', at: clock.now() });
  await clock.advance(2_000);
  expect(listeners()).toBe(before);
  ending.abort();
  await clock.advance(0);
  await observing;
});

test('each list is reported with its time, duration, distance from the previous list and success', async () => {
  const reported: RelistStats[] = [];
  const node = await simulatedNode({
    pods: [podWith('web')],
    parts: { onRelisted: (relist) => reported.push(relist) },
  });
  await node.advance('25s');
  const [first, ...later] = reported;
  expect(first).toEqual({ at: expect.any(Number), ms: expect.any(Number), hasResponded: true });
  expect(later.map(({ sinceLastMs }) => sinceLastMs).at(-1)).toBeGreaterThan(9_000);
  expect(Math.max(...reported.map(({ ms }) => ms))).toBeGreaterThan(0);
  expect(reported.at(-1)?.at).toBeGreaterThan(node.clock.now() - 11_000);
  node.runtime.down();
  await node.advance('3s');
  expect(reported.at(-1)).toMatchObject({ hasResponded: false });
});

test('a requested list starts at once, and its result has taken effect when the request completes', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('33s');
  node.runtime.events.setDeliveryMode('dropped');
  node.runtime.exitContainer(node.containerId('web'), 7);
  const { signal } = new AbortController();
  const before = node.clock.now();
  expect(await node.clock.advanceUntilSettled(node.agent.relist(signal))).toBe(true);
  expect(node.clock.now() - before).toBeLessThan(1_000);
  expect(node.container('web').state).not.toHaveProperty('running');
  node.runtime.down();
  expect(await node.clock.advanceUntilSettled(node.agent.relist(signal))).toBe(false);
  const aborted = new AbortController();
  const request = node.agent.relist(aborted.signal);
  aborted.abort();
  expect(await request).toBe(false);
  expect(await node.agent.relist(aborted.signal)).toBe(false);
});
