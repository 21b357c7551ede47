import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Observations } from '../../../kubernetes/eviction/pressure.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';
import type { PodUsage, PodUsages } from '../../../kubernetes/eviction/usage.ts';
import type { EvictionInput } from '../../../machines/eviction/context.ts';
import type { PortTypes } from '../../../machines/shared/ports.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const MI = 2 ** 20;
const SECOND = 1_000;
const MINUTE = 60_000;

const HARD: Threshold = { signal: 'memory.available', value: '100Mi', graceMs: 0 };
const SOFT: Threshold = { signal: 'memory.available', value: '200Mi', graceMs: 30 * SECOND };
const DISK: Threshold = { signal: 'nodefs.available', value: '10%', graceMs: 0 };

const memory = (mebibytes: number): Observations => ({
  'memory.available': { available: mebibytes * MI, capacity: 1_000 * MI, at: 0 },
});
const disk = (percent: number): Observations => ({
  'nodefs.available': { available: percent * MI, capacity: 100 * MI, at: 0 },
});
const using = (mebibytes: number): PodUsage => ({ memoryBytes: mebibytes * MI, containers: [], volumes: [] });

const small = namedPod('small');
/** Its own grace period is longer than that of any eviction. */
const large = namedPod('large', { terminationGracePeriodSeconds: 30 });

/** Creates a node whose measurements the test supplies. Each observation is newer than the previous one. */
function node({ eviction = {}, pods = [small, large] }: { eviction?: Partial<EvictionInput>; pods?: Pod[] } = {}) {
  const settings = { transitionMs: 5 * MINUTE, maxPodGraceSeconds: 0, enforcesStorageLimits: true };
  const story = nodeStory({
    eviction: { thresholds: [HARD], ...settings, ...eviction },
    held: [
      'measureResources',
      'measurePods',
      'removeGarbage',
      'removeUnusedImages',
      'stopContainer',
      'unmountVolume',
      'removeCgroup',
    ],
  });
  const { ports } = story;
  const measured = (observations: Observations, more: Partial<PortTypes['measureResources']['output']> = {}) => {
    const dated = Object.entries(observations).map(([signal, each]) => [signal, { ...each, at: ports.now }]);
    ports.answer('measureResources', {
      layout: 'single',
      observations: Object.fromEntries(dated),
      usages: {},
      at: ports.now,
      uptimeMs: ports.now,
      ...more,
    });
  };
  story.list();
  story.want(pods);
  measured(memory(500));
  story.told();
  return {
    ...story,
    measured,
    podsMeasured: (usages: PodUsages) => ports.answer('measurePods', { usages, at: ports.now }),
    eviction: () => story.own('eviction'),
    conditions: () => story.context().conditions?.map(({ type, status }) => `${type} ${status}`) ?? [],
    /** Starts the next pass, which measures these observations. */
    pass: (observations: Observations, more: Partial<PortTypes['measureResources']['output']> = {}) => {
      ports.advance(10 * SECOND);
      measured(observations, more);
    },
    termination: ({ metadata }: Pod) => story.podRef(metadata.uid)?.getSnapshot().context.termination,
    /** Returns the new Kubernetes events that concern an eviction. */
    told: () => story.told().filter((event) => /Evict|Pressure|NodeHas|ExceededGrace/.test(event)),
  };
}

const usages: PodUsages = { 'small-uid': using(10), 'large-uid': using(300) };
const LOW = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ';

describe('C28: a node', () => {
  test('measures its resources every ten seconds and evicts nothing while enough is left', () => {
    const { ports, pass, eviction, told, pod } = node();
    expect(eviction()).toMatchObject({ state: 'waiting', waitingFor: "the next check of the node's resources" });
    for (let passes = 0; passes < 5; passes += 1) pass(memory(100));
    expect(ports.asked('measureResources')).toHaveLength(6);
    expect(ports.asked('measurePods')).toEqual([]);
    expect(told()).toEqual([]);
    expect([pod('small-uid'), pod('large-uid')]).toEqual(['active.running.steady', 'active.running.steady']);
  });

  test('evicts the pod that is ranked first, as soon as a hard threshold is met', () => {
    const { ports, pass, podsMeasured, told, termination, conditions, eviction } = node();
    pass(memory(50));
    expect(conditions()).toEqual(['MemoryPressure True']);
    expect(told()).toEqual([
      'Normal NodeHasInsufficientMemory: Node node status is now: NodeHasInsufficientMemory',
      'Warning EvictionThresholdMet: Attempting to reclaim memory',
    ]);
    expect(ports.asked('measurePods')).toEqual([{ uids: ['small-uid', 'large-uid'], resource: 'memory' }]);
    podsMeasured(usages);
    expect(told()).toEqual([`Warning Evicted: ${LOW}`]);
    expect(termination(large)).toEqual({
      reason: 'Evicted',
      message: LOW,
      disruption: LOW,
      phase: 'Failed',
      graceSeconds: 1,
      at: ports.now,
      staysUntilUnlisted: true,
      isAwaited: true,
    });
    expect(termination(small)).toBeUndefined();
    expect(eviction()).toMatchObject({ state: 'evicting.stopping', waitingFor: 'the evicted pod to stop' });
  });

  test('starts the next pass as soon as the evicted pod has been cleaned up, and evicts one pod at a time', () => {
    const { ports, pass, podsMeasured, measured, eviction, pod, told } = node();
    pass(memory(50));
    podsMeasured(usages);
    ports.answer('stopContainer');
    expect(eviction()?.state).toBe('evicting.cleaningUp');
    ports.answer('removeCgroup');
    expect(pod('large-uid')).toBe('finished');
    expect(eviction()?.state).toBe('measuring');
    ports.advance(1);
    measured(memory(60));
    expect(ports.asked('measurePods').at(-1)).toEqual({ uids: ['small-uid'], resource: 'memory' });
    podsMeasured(usages);
    expect(told().filter((event) => event.startsWith('Warning Evicted'))).toHaveLength(2);
  });

  test('waits at most 10 s for the evicted pod to stop, which is reported, and 30 s for its cleanup', () => {
    const { ports, pass, podsMeasured, eviction, told } = node();
    pass(memory(50));
    podsMeasured(usages);
    told();
    ports.advance(10 * SECOND - 1);
    expect([eviction()?.state, told()]).toEqual(['evicting.stopping', []]);
    ports.advance(1);
    expect(eviction()?.state).toBe('evicting.cleaningUp');
    expect(told()).toEqual([
      'Warning ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.',
    ]);
    ports.advance(30 * SECOND - 1);
    expect(eviction()?.state).toBe('evicting.cleaningUp');
    ports.advance(1);
    expect(eviction()?.state).toBe('measuring');
  });

  test('does not wait for the next pass if the memory falls below a threshold meanwhile', () => {
    const { ports, eviction, evictionRef } = node();
    ports.advance(SECOND);
    evictionRef()?.send({ type: 'memory.thresholdMet', at: ports.now });
    expect(eviction()?.state).toBe('measuring');
  });

  test.each<[string, number, number | undefined, number]>([
    ['its own if that is shorter', 60, 5, 5],
    ['the maximum if its own is longer', 10, 60, 10],
    ['at least a second', 0, 30, 1],
  ])('grants a pod that is evicted for a soft threshold a grace period: %s', (_, maxPodGraceSeconds, own, granted) => {
    const pods = [namedPod('large', own === undefined ? {} : { terminationGracePeriodSeconds: own })];
    const { pass, podsMeasured, termination, told } = node({
      pods,
      eviction: { thresholds: [SOFT], maxPodGraceSeconds },
    });
    pass(memory(150));
    pass(memory(150));
    pass(memory(150));
    expect(told().filter((event) => event.includes('Evict'))).toEqual([]);
    pass(memory(150));
    podsMeasured(usages);
    expect(termination(large)?.graceSeconds).toBe(granted);
  });

  test('never evicts a critical pod', () => {
    const pods = [namedPod('large', { priority: 2_000_000_000 }), small];
    const { pass, podsMeasured, termination } = node({ pods });
    pass(memory(50));
    podsMeasured(usages);
    expect(termination(large)).toBeUndefined();
    expect(termination(small)?.reason).toBe('Evicted');
  });

  test('ranks its pods once for each eviction', () => {
    let readCount = 0;
    const spec = Object.defineProperty({ ...large.spec }, 'priority', {
      enumerable: true,
      get: () => {
        readCount += 1;
        return 0;
      },
    });
    const { pass, podsMeasured, termination } = node({ pods: [small, { ...large, spec }] });
    pass(memory(50));
    readCount = 0;
    podsMeasured(usages);
    // The ranking reads the priority once, and so does the check for critical pods.
    expect(termination(large)?.reason).toBe('Evicted');
    expect(readCount).toBe(2);
  });

  test('waits for the next pass if all pods are critical', () => {
    const { pass, podsMeasured, eviction } = node({ pods: [namedPod('large', { priority: 2_000_000_000 })] });
    pass(memory(50));
    podsMeasured(usages);
    expect(eviction()?.state).toBe('waiting');
  });

  test('evicts nothing on figures that it has already acted on', () => {
    const { ports, pass, podsMeasured, eviction } = node({ pods: [namedPod('large', { priority: 2_000_000_000 })] });
    pass(memory(50));
    podsMeasured(usages);
    const { at } = memory(50)['memory.available'] ?? { at: 0 };
    ports.advance(10 * SECOND);
    ports.answer('measureResources', {
      layout: 'single',
      observations: { 'memory.available': { available: 0, capacity: 1, at } },
      usages: {},
      at: ports.now,
      uptimeMs: ports.now,
    });
    expect(eviction()?.state).toBe('waiting');
  });

  test('evicts nothing if its resources or its pods cannot be measured', () => {
    const { ports, pass, eviction, told } = node();
    ports.advance(10 * SECOND);
    ports.fail('measureResources', 'FailedRead', 'no figures');
    expect(eviction()).toMatchObject({ state: 'waiting', lastFailure: { message: 'no figures' } });
    pass(memory(50));
    ports.fail('measurePods', 'FailedRead', 'no usage');
    expect(eviction()).toMatchObject({ state: 'waiting', lastFailure: { message: 'no usage' } });
    expect(told().filter((event) => event.includes('Warning Evicted'))).toEqual([]);
    pass(memory(500));
    expect(eviction()).not.toHaveProperty('lastFailure');
  });

  test('reports the end of pressure after the transition period', () => {
    const { pass, podsMeasured, conditions, told } = node({ pods: [namedPod('large', { priority: 2_000_000_000 })] });
    pass(memory(50));
    podsMeasured(usages);
    for (let passes = 0; passes < 29; passes += 1) pass(memory(500));
    expect(conditions()).toEqual(['MemoryPressure True']);
    told();
    pass(memory(500));
    expect(conditions()).toEqual(['MemoryPressure False']);
    expect(told()).toEqual(['Normal NodeHasSufficientMemory: Node node status is now: NodeHasSufficientMemory']);
  });
});

test('C28: a node reports when a threshold would be met at the rate of the last five to ten minutes', () => {
  const { pass, eviction } = node();
  for (let available = 499; available > 400; available -= 1) pass(memory(available));
  expect(eviction()?.facts).toEqual([
    'memory.available: 401Mi of 1000Mi left, evicts below 100Mi; at the present rate in 50m',
  ]);
});

describe('C28: a node that runs out of disk space', () => {
  /** A node with two dead containers, one more than are retained, and with little disk space. */
  function fullNode() {
    const story = node({ eviction: { thresholds: [DISK] } });
    const dead = ['retained', 'dead'];
    story.world.run(small, 'main', { id: 'dead', attempt: 0, state: 'exited', exitCode: 1, createdAt: 0 });
    story.world.run(small, 'main', { id: 'retained', attempt: 1, state: 'exited', exitCode: 1, createdAt: 1 });
    const shown = story.world.observed(small);
    const containers = shown.containers.toSorted((a, b) => dead.indexOf(a.id) - dead.indexOf(b.id));
    story.list({ ...shown, containers }, story.world.observed(large));
    return story;
  }

  test('removes dead containers and then all unused images, and evicts nothing if that suffices', () => {
    const { ports, pass, measured, eviction, evictionRef, told } = fullNode();
    pass(disk(5));
    expect(told()).toContain('Warning EvictionThresholdMet: Attempting to reclaim ephemeral-storage');
    expect(ports.asked('removeUnusedImages')).toEqual([]);
    const [removed] = ports.asked('removeGarbage').slice(-1);
    expect(removed?.containers.map(({ id }) => id)).toEqual(['dead']);
    expect(eviction()).toMatchObject({ state: 'reclaiming.removingContainers' });
    ports.answer('removeGarbage', null);
    expect(eviction()?.state).toBe('reclaiming.removingImages');
    expect(ports.asked('removeUnusedImages')).toEqual([{ activePodUids: ['small-uid', 'large-uid'] }]);
    ports.answer('removeUnusedImages', { removed: [{ id: 'sha256:1', name: 'old', sizeBytes: 7, reason: 'space' }] });
    expect(eviction()?.state).toBe('reclaiming.measuring');
    measured(disk(10));
    expect(eviction()?.state).toBe('waiting');
    expect(ports.asked('measurePods')).toEqual([]);
    expect(eviction()?.facts).toContain(
      'removed 1 dead container and 1 image of 7 at 00:00:10 because of nodefs.available',
    );
    expect(evictionRef()?.getSnapshot().context.reclaim).toEqual({
      signal: 'nodefs.available',
      at: ports.now,
      containerCount: 1,
      imageCount: 1,
      imageBytes: 7,
    });
  });

  test('evicts a pod if that does not suffice, or fails', () => {
    const { ports, pass, measured, podsMeasured, termination } = fullNode();
    pass(disk(5));
    ports.fail('removeGarbage', 'RuntimeError');
    ports.fail('removeUnusedImages', 'RuntimeError');
    measured(disk(9));
    expect(ports.asked('measurePods')).toEqual([{ uids: ['small-uid', 'large-uid'], resource: 'ephemeral-storage' }]);
    podsMeasured({
      'small-uid': { containers: [{ name: 'main', rootfs: { bytes: 10 } }], volumes: [] },
      'large-uid': { containers: [{ name: 'main', rootfs: { bytes: 20 } }], volumes: [] },
    });
    expect(termination(large)?.message).toContain('The node was low on resource: ephemeral-storage. ');
    expect(termination(small)).toBeUndefined();
  });

  test('evicts a pod if the space cannot be measured again', () => {
    const { ports, pass, eviction } = fullNode();
    pass(disk(5));
    ports.answer('removeGarbage', null);
    ports.answer('removeUnusedImages', { removed: [] });
    ports.fail('measureResources', 'FailedRead');
    expect(eviction()?.state).toBe('ranking');
  });

  test('reclaims nothing on the file system of the root directory if images are on another one', () => {
    const { pass, eviction } = fullNode();
    pass(disk(5), { layout: 'separateImages' });
    expect(eviction()?.state).toBe('ranking');
  });
});

describe('C28: the limits of local storage', () => {
  const limited = namedPod('limited', { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }] });
  const full: PodUsages = { 'limited-uid': { containers: [], volumes: [{ name: 'scratch', bytes: 2 * MI }] } };
  const MESSAGE = 'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ';

  test('are checked in each pass, for the pods that have some', () => {
    const { ports, pass, termination, told } = node({ pods: [small, limited] });
    expect(ports.asked('measureResources')).toEqual([{ limitedUids: [] }]);
    pass(memory(500), { usages: full });
    expect(ports.asked('measureResources')[1]).toEqual({ limitedUids: ['limited-uid'] });
    expect(told()).toEqual([`Warning Evicted: ${MESSAGE}`]);
    expect(termination(limited)).toMatchObject({ reason: 'Evicted', message: MESSAGE, graceSeconds: 1 });
    expect(termination(limited)).not.toHaveProperty('disruption');
  });

  test('come before the thresholds', () => {
    const { ports, pass, termination } = node({ pods: [small, limited] });
    pass(memory(50), { usages: full });
    expect(ports.asked('measurePods')).toEqual([]);
    expect([termination(limited)?.reason, termination(small)]).toEqual(['Evicted', undefined]);
  });

  test('of several pods are enforced together, and their cleanup is awaited together', () => {
    const other = { ...limited, metadata: { ...limited.metadata, name: 'other', uid: 'other-uid' } };
    const { ports, pass, eviction } = node({ pods: [limited, other] });
    const usage = full['limited-uid'] ?? using(0);
    pass(memory(500), { usages: { 'limited-uid': usage, 'other-uid': usage } });
    ports.answer('stopContainer');
    expect(eviction()?.state).toBe('evicting.stopping');
    ports.answer('stopContainer');
    expect(eviction()?.state).toBe('evicting.cleaningUp');
    for (const port of ['unmountVolume', 'removeCgroup'] as const) {
      ports.answer(port);
      expect(eviction()?.state).toBe('evicting.cleaningUp');
      ports.answer(port);
    }
    expect(eviction()?.state).toBe('measuring');
  });

  test('are not enforced without isolation of local storage', () => {
    const { ports, pass } = node({ pods: [limited], eviction: { enforcesStorageLimits: false } });
    pass(memory(500));
    expect(ports.asked('measureResources').at(-1)).toEqual({ limitedUids: [] });
  });
});
