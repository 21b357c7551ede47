import { describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import type { DiskLayout } from '../../../../kubernetes/eviction/layout.ts';
import { simulatedCluster } from '../../../../testing/simulation/cluster/simulatedCluster.ts';
import {
  evictionInvariants,
  noCriticalEviction,
  noEvictionAfterRelief,
  noNeedlessEviction,
} from '../../../../testing/simulation/invariants/evictions.ts';
import type { Invariant, Watched } from '../../../../testing/simulation/invariants/invariant.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

const SECOND = 1_000;

const eviction = {
  thresholds: [
    { signal: 'memory.available', value: '10%', graceMs: 0 },
    { signal: 'nodefs.available', value: '10%', graceMs: 0 },
    { signal: 'pid.available', value: '10%', graceMs: 0 },
    { signal: 'imagefs.available', value: '10%', graceMs: 0 },
    { signal: 'imagefs.inodesFree', value: '10%', graceMs: 0 },
    { signal: 'nodefs.inodesFree', value: '10%', graceMs: 0 },
  ],
  transitionMs: 30 * SECOND,
  maxPodGraceSeconds: 5,
  enforcesStorageLimits: true,
} as const;

/** Creates a cluster node with a critical pod and three others. */
async function node(diskLayout: DiskLayout = 'single') {
  const simulated = await simulateNode({
    seed: 1,
    cluster: simulatedCluster,
    replays: true,
    config: { eviction },
    diskLayout,
    invariants: evictionInvariants,
  });
  const pods = [
    manifest('critical', { containers: [container('main')], priorityClassName: 'system-node-critical' }),
    ...['a', 'b', 'c'].map((name) => manifest(name, { containers: [container('main')] })),
  ];
  for (const pod of pods) simulated.perform({ kind: 'createPod', pod });
  await simulated.advance(30 * SECOND);
  return simulated;
}

const phases = (simulated: Awaited<ReturnType<typeof node>>) =>
  Object.fromEntries(
    simulated.pods().map(({ metadata, status }) => [metadata.name, status?.reason ?? status?.phase ?? '']),
  );

describe('C28: a simulated node of a cluster', () => {
  test.each([
    ['memory', 'single'],
    ['processes', 'single'],
    ['disk', 'single'],
    ['inodes', 'split'],
    ['imageDisk', 'single'],
    ['imageDisk', 'separateImages'],
    ['imageInodes', 'separateImages'],
  ] as const)(
    'evicts all non-critical pods, one at a time, under pressure on %s with the layout %s',
    async (resource, layout) => {
      const simulated = await node(layout);
      expect(phases(simulated)).toEqual({ critical: 'Running', a: 'Running', b: 'Running', c: 'Running' });
      simulated.perform({ kind: 'pressure', resource, share: 0.99, forMs: 120 * SECOND });
      await simulated.advance(100 * SECOND);
      expect(phases(simulated)).toEqual({ critical: 'Running', a: 'Evicted', b: 'Evicted', c: 'Evicted' });
      await simulated.advance(120 * SECOND);
      expect(phases(simulated).critical).toBe('Running');
    },
  );

  test('evicts no more pods than necessary', async () => {
    const simulated = await node();
    // 9 % are available while four containers use 64 MiB each of 4 GiB, so one has to be evicted.
    simulated.perform({ kind: 'pressure', resource: 'memory', share: 0.848, forMs: 60 * SECOND });
    await simulated.advance(50 * SECOND);
    expect(Object.values(phases(simulated)).toSorted()).toEqual(['Evicted', 'Running', 'Running', 'Running']);
  });
});

const EVICTED = 'The node was low on resource: memory. Threshold quantity: 100, available: 50. ';

/** Runs an invariant on a host with this much memory, and returns its violations for one event. */
function violationsOf(invariant: Invariant, { available = 50, measured = 50, priority = 0, message = EVICTED } = {}) {
  const violations: string[] = [];
  const resources = {
    available: () => available,
    lastObservations: { 'memory.available': { available: measured, capacity: 1_000, at: 0 } },
  };
  // The invariants of evictions read nothing else.
  const watched = { host: { resources }, podOf: () => aPod({ priority }) } as unknown as Watched;
  const hooks = invariant.follow(watched, (violation) => violations.push(violation));
  hooks.onCall?.({ target: 'cgroups', name: 'measureNode', about: '', writes: false });
  const involved = { kind: 'Pod', name: 'web', uid: 'uid-1' } as const;
  const event: RecordedEvent = { type: 'event.recorded', eventType: 'Warning', reason: 'Evicted', message, involved };
  hooks.onEvent?.({ ...event, at: 0 });
  return violations.length;
}

test('the eviction of a critical pod is a violation, but not its rejection', () => {
  const priority = 2_000_000_000;
  expect(violationsOf(noCriticalEviction)).toBe(0);
  expect(violationsOf(noCriticalEviction, { priority })).toBe(1);
  expect(violationsOf(noCriticalEviction, { priority, message: 'The node had condition: [DiskPressure]. ' })).toBe(0);
});

test('an eviction without a shortage is a violation', () => {
  expect(violationsOf(noNeedlessEviction)).toBe(0);
  expect(violationsOf(noNeedlessEviction, { available: 100 })).toBe(1);
  expect(violationsOf(noNeedlessEviction, { available: 100, message: 'Usage of EmptyDir volume "v" exceeds …' })).toBe(
    0,
  );
});

test('an eviction after the shortage has ended is a violation', () => {
  expect(violationsOf(noEvictionAfterRelief)).toBe(0);
  expect(violationsOf(noEvictionAfterRelief, { measured: 100 })).toBe(1);
});
