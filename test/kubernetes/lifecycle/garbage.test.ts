import { describe, expect, test } from '@jest/globals';
import {
  deadContainers,
  defaultGarbagePolicy,
  emptySandboxes,
  unusedContainers,
} from '../../../kubernetes/lifecycle/garbage.ts';
import type { ObservedContainer, ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';

type State = ObservedContainer['state'];

/** Returns a pod whose container `main` has these runs, the newest first. The last one has attempt 0. */
function podWith(uid: string, states: readonly State[], name = 'main', sandboxId = 'box'): ObservedPod {
  const containers = states.map((state, index): ObservedContainer => {
    const attempt = states.length - 1 - index;
    return {
      id: `${uid}-${name}-${attempt}`,
      sandboxId,
      podUid: uid,
      name,
      attempt,
      state,
      createdAt: attempt * 1_000,
      hash: '',
      image: 'busybox',
      imageRef: 'sha256:1',
    };
  });
  return { uid, namespace: 'default', name: uid, sandboxes: [], containers };
}

const idsOf = (pods: ObservedPod[], policy = defaultGarbagePolicy) => deadContainers(pods, policy).map(({ id }) => id);

describe('dead containers', () => {
  test.each<[State[], string[]]>([
    [['running'], []],
    [['running', 'exited'], []],
    [
      ['running', 'exited', 'exited', 'exited'],
      ['a-main-1', 'a-main-0'],
    ],
    [['exited'], []],
    [['exited', 'exited'], ['a-main-0']],
    // A container that was just created is not dead, and the logs of the previous run are still needed.
    [['created', 'exited'], []],
    [['created', 'exited', 'exited'], ['a-main-0']],
    // A container that never started, or whose exit is unknown, counts as dead once there is a newer one.
    [['running', 'created', 'unknown'], ['a-main-0']],
    [['unknown', 'exited'], []],
  ])('with states %j: removes %j and retains one for its logs', (states, gone) => {
    expect(idsOf([podWith('a', states)])).toEqual(gone);
  });

  test('are retained separately for each container of each pod', () => {
    const both = podWith('a', ['exited', 'exited']);
    const proxy = podWith('a', ['running', 'exited', 'exited'], 'proxy');
    const pods = [{ ...both, containers: [...both.containers, ...proxy.containers] }, podWith('b', ['exited'])];
    expect(idsOf(pods)).toEqual(['a-main-0', 'a-proxy-0']);
  });

  test('are retained if the total is below the limit', () => {
    const pods = [podWith('a', ['exited', 'exited', 'exited']), podWith('b', ['running'])];
    expect(idsOf(pods, { perContainer: 3, total: 4 })).toEqual([]);
  });

  test('are retained up to the configured number, including none and all', () => {
    const pod = podWith('a', ['running', 'exited', 'exited', 'exited']);
    expect(idsOf([pod], { perContainer: 2, total: Infinity })).toEqual(['a-main-0']);
    expect(idsOf([pod], { perContainer: 0, total: Infinity })).toHaveLength(3);
    expect(idsOf([pod], { perContainer: Infinity, total: Infinity })).toEqual([]);
  });

  test('are limited by an equal share of the total, then by age', () => {
    const pods = ['a', 'b', 'c'].map((uid) => podWith(uid, ['exited', 'exited', 'exited']));
    expect(idsOf(pods, { perContainer: 5, total: 6 })).toEqual(['a-main-0', 'b-main-0', 'c-main-0']);
    const [old, ...young] = [podWith('old', ['exited']), podWith('x', ['running', 'exited', 'exited'])];
    expect(idsOf([...young, old], { perContainer: 1, total: 1 })).toEqual(['x-main-0', 'old-main-0']);
    expect(idsOf(pods, { perContainer: 5, total: 9 })).toEqual([]);
  });

  test('include their pod, for the logs, and whether they are the latest', () => {
    const run = (attempt: number, isLatest: boolean) => ({
      pod: { uid: 'a', namespace: 'default', name: 'a' },
      container: 'main',
      id: `a-main-${attempt}`,
      attempt,
      isLatest,
    });
    const pods = [podWith('a', ['exited', 'exited'])];
    expect(deadContainers(pods, defaultGarbagePolicy)).toEqual([run(0, false)]);
    expect(deadContainers(pods, { perContainer: 0, total: Infinity })).toEqual([run(1, true), run(0, false)]);
  });
});

test('sandboxes that are not ready, have no containers and are not the latest are removed', () => {
  const sandbox = (id: string, state: 'ready' | 'notReady', attempt: number) => ({
    id,
    podUid: 'a',
    namespace: 'default',
    podName: 'a',
    attempt,
    state,
    createdAt: attempt,
  });
  const held = podWith('a', ['exited'], 'main', 'held');
  const sandboxes = [
    sandbox('latest', 'notReady', 4),
    sandbox('ready', 'ready', 3),
    sandbox('held', 'notReady', 2),
    sandbox('empty', 'notReady', 1),
  ];
  expect(emptySandboxes([{ ...held, sandboxes }])).toEqual(['empty']);
});

describe('the limits of dead containers', () => {
  // Vectors for `evictContainers` in `pkg/kubelet/kuberuntime/kuberuntime_gc.go`. `dead` is the number of dead
  // containers per pod.
  test.each([
    { policy: { perContainer: 1, total: Infinity }, dead: [3, 1], retained: [1, 1] },
    { policy: { perContainer: 0, total: Infinity }, dead: [3, 1], retained: [0, 0] },
    { policy: { perContainer: Infinity, total: Infinity }, dead: [3, 1], retained: [3, 1] },
    // The total limit applies to the containers that the limit per container has left.
    { policy: { perContainer: 3, total: 4 }, dead: [5, 1], retained: [3, 1] },
    { policy: { perContainer: 5, total: 4 }, dead: [5, 5], retained: [2, 2] },
    // If the equal share is less than one, each container first retains one run. Then only the newest remain.
    { policy: { perContainer: 2, total: 2 }, dead: [3, 3, 3], retained: [1, 1, 0] },
    { policy: { perContainer: 2, total: 0 }, dead: [3, 3], retained: [0, 0] },
    // A pod without dead containers does not count for the equal share.
    { policy: { perContainer: 5, total: 4 }, dead: [5, 0], retained: [4, 0] },
  ])('$policy leave $retained of $dead', ({ policy, dead, retained }) => {
    const pods = dead.map((count, index) => {
      const pod = podWith(`pod-${index}`, ['running', ...Array.from({ length: count }, () => 'exited' as const)]);
      // At each attempt, the containers of the first pod are the newest.
      return { ...pod, containers: pod.containers.map((each) => ({ ...each, createdAt: each.createdAt - index })) };
    });
    const removed = deadContainers(pods, policy);
    expect(dead.map((count, index) => count - removed.filter(({ pod }) => pod.uid === `pod-${index}`).length)).toEqual(
      retained,
    );
  });

  test('spare containers below the minimum age, also of terminated pods', () => {
    const policy = { perContainer: 0, total: Infinity, minAgeMs: 1_500 };
    // The attempts 0, 1 and 2 were created at 0, 1 and 2 s.
    const pods = [podWith('a', ['exited', 'exited', 'exited'])];
    const removed = deadContainers(pods, policy, 3_000);
    expect(removed.map(({ id, isLatest }) => [id, isLatest])).toEqual([
      ['a-main-1', false],
      ['a-main-0', false],
    ]);
    const terminatedUids = new Set(['a']);
    expect(unusedContainers(pods, policy, { now: 1_500, terminatedUids }).map(({ id }) => id)).toEqual(['a-main-0']);
  });
});

test('on a full disk, all containers of terminated pods are removed, and those of other pods as usual', () => {
  const pods = [podWith('over', ['created', 'exited']), podWith('live', ['running', 'exited', 'exited'])];
  const removed = unusedContainers(pods, defaultGarbagePolicy, { now: 9_000, terminatedUids: new Set(['over']) });
  expect(removed.map(({ id, isLatest }) => [id, isLatest])).toEqual([
    ['over-main-1', true],
    ['over-main-0', false],
    ['live-main-0', false],
  ]);
});
