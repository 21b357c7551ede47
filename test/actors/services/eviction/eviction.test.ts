/** Evictions by a complete node, on the simulated runtime with measurements that the test sets. */
import { describe, expect, test } from '@jest/globals';
import { createEventRecorder } from '../../../../actors/events/eventRecorder.ts';
import { evictionServices, type ResourceMeter } from '../../../../actors/services/eviction/eviction.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { simulatedMeter } from '../../../../actors/simulated/simulatedMeter.ts';
import { openGate } from '../../../../host/simulated/gate.ts';
import type { MeasuredResource, PodUsages } from '../../../../kubernetes/eviction/usage.ts';
import { simulatedNode } from '../../../fakes/node.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';

const MI = 2 ** 20;

const eviction = {
  thresholds: [{ signal: 'memory.available', value: '100Mi', graceMs: 0 }],
  transitionMs: 60_000,
  maxPodGraceSeconds: 0,
  enforcesStorageLimits: true,
} as const;

const usages: PodUsages = {
  'big-uid': { memoryBytes: 300 * MI, containers: [{ name: 'main', memoryBytes: 300 * MI }], volumes: [] },
  'small-uid': { memoryBytes: 10 * MI, containers: [{ name: 'main', memoryBytes: 10 * MI }], volumes: [] },
};

/**
 * Starts a node with 500 MiB of free memory. Once the test sets `usesMemory`, it has 50 MiB as long as the pod `big`
 * runs.
 */
async function node() {
  const big = { usesMemory: false };
  let now = () => 0;
  let isBigRunning = () => false;
  const events = createEventRecorder('node-1', () => now());
  const memory = () => ({
    'memory.available': {
      available: (big.usesMemory && isBigRunning() ? 50 : 500) * MI,
      capacity: 1_000 * MI,
      at: now(),
    },
  });
  const resources = { layout: 'single', observations: memory, memory, usages: () => usages } as const;
  const resourceMeter = simulatedMeter(resources, openGate);
  const started = await simulatedNode({
    config: { eviction },
    pods: [podWith('big'), podWith('small')],
    parts: { resourceMeter, events: events.record },
  });
  now = () => started.clock.now();
  isBigRunning = () =>
    [...started.runtime.containers()].some(({ podName, state }) => podName === 'big' && state === 'running');
  await started.advance('5s');
  return { node: started, big, events: () => events.events() };
}

const MESSAGE =
  'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
  'Container main was using 300Mi, request is 0, has larger consumption of memory. ';

describe('C28: a node that is low on memory', () => {
  test('evicts a pod within seconds as Failed with the reason, and reports its memory pressure', async () => {
    const { node: started, big, events } = await node();
    big.usesMemory = true;
    await started.advance('3s');
    expect(started.pod('big')).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: MESSAGE });
    expect(started.pod('big').conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message: MESSAGE,
      }),
    );
    expect(started.pod('small').phase).toBe('Running');
    expect(started.agent.explainUid('big-uid')?.answer).toContain('available: 50Mi');
    expect(started.agent.facts().conditions).toEqual([
      expect.objectContaining({
        type: 'MemoryPressure',
        status: 'True',
        reason: 'KubeletHasInsufficientMemory',
        message: 'kubelet has insufficient memory available',
      }),
    ]);
    const evicted = events().find(({ reason }) => reason === 'Evicted');
    expect(evicted).toMatchObject({ type: 'Warning', message: MESSAGE, involvedObject: { kind: 'Pod', name: 'big' } });
    expect(evicted?.metadata.annotations).toEqual({
      offending_containers: 'main',
      offending_containers_usage: '300Mi',
      starved_resource: 'memory',
    });
    expect(events().find(({ reason }) => reason === 'EvictionThresholdMet')).toMatchObject({
      type: 'Warning',
      message: 'Attempting to reclaim memory',
      involvedObject: { kind: 'Node', name: 'node-1' },
    });
  });

  test('rejects BestEffort pods until the pressure has ended, and admits others', async () => {
    const { node: started, big } = await node();
    const requests = { memory: '1Mi' };
    big.usesMemory = true;
    await started.advance('3s');
    const burstable = podWith('burstable', { containers: [containerWith('main', { resources: { requests } })] });
    started.apply(podWith('refused'), burstable);
    await started.advance('15s');
    expect(started.pod('refused')).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [MemoryPressure]. ',
    });
    expect(started.pod('burstable').phase).toBe('Running');
    await started.advance('60s');
    started.apply(podWith('later'));
    await started.advance('15s');
    expect(started.pod('later').phase).toBe('Running');
    expect(started.agent.facts().conditions).toEqual([
      expect.objectContaining({ type: 'MemoryPressure', status: 'False' }),
    ]);
  });
});

describe('eviction measurements', () => {
  const meter = (more: Partial<ResourceMeter> = {}): ResourceMeter => ({
    readMemory: () => ({}),
    measureNode: async () => ({ layout: 'single', observations: {} }),
    measureDiskUsage: async () => usages,
    measurePods: async () => usages,
    ...more,
  });
  const { signal } = new AbortController();

  test('include the disk usage of pods only if some pods have limits', async () => {
    const clock = new SimulatedClock();
    const { measureResources } = evictionServices({ resourceMeter: meter(), clock });
    const measured = { layout: 'single', observations: {}, at: clock.now(), uptimeMs: clock.monotonic() };
    expect(await measureResources({ limitedUids: [] }, { signal })).toEqual({ ...measured, usages: {} });
    expect(await measureResources({ limitedUids: ['big-uid'] }, { signal })).toEqual({ ...measured, usages });
  });

  test('of pods contain only the resource that is short, also on a simulated host', async () => {
    const usage = {
      memoryBytes: MI,
      processes: 2,
      containers: [{ name: 'main', memoryBytes: MI, logs: { bytes: 3 } }],
      volumes: [{ name: 'scratch', bytes: 4 }],
      ephemeralStorageBytes: 7,
    };
    const none = () => ({});
    const resources = {
      layout: 'single',
      observations: none,
      memory: none,
      usages: () => ({ 'pod-uid': usage }),
    } as const;
    const { measurePods } = evictionServices({
      resourceMeter: simulatedMeter(resources, openGate),
      clock: new SimulatedClock(),
    });
    const usageOf = async (resource: MeasuredResource) =>
      (await measurePods({ uids: ['pod-uid'], resource }, { signal })).usages['pod-uid'];
    expect(await usageOf('everything')).toEqual(usage);
    expect(await usageOf('memory')).toEqual({
      memoryBytes: MI,
      containers: [{ name: 'main', memoryBytes: MI }],
      volumes: [],
    });
    expect(await usageOf('pids')).toEqual({ processes: 2, containers: [{ name: 'main' }], volumes: [] });
    for (const resource of ['ephemeral-storage', 'inodes'] as const)
      expect(await usageOf(resource)).toEqual({
        containers: [{ name: 'main', logs: { bytes: 3 } }],
        volumes: usage.volumes,
        ephemeralStorageBytes: 7,
      });
  });

  test('time out after 15 s', async () => {
    const clock = new SimulatedClock();
    const hanging = meter({ measurePods: () => new Promise(() => {}) });
    const { measurePods } = evictionServices({ resourceMeter: hanging, clock });
    const failure = measurePods({ uids: [], resource: 'memory' }, { signal }).catch((error: unknown) => error);
    await clock.advance(15_000);
    expect(await failure).toMatchObject({ reason: 'FailedRead' });
  });

  test('fail on a node that cannot measure anything', async () => {
    const { measurePods } = evictionServices({ clock: new SimulatedClock() });
    await expect(measurePods({ uids: [], resource: 'memory' }, { signal })).rejects.toMatchObject({
      reason: 'Unimplemented',
    });
  });
});
