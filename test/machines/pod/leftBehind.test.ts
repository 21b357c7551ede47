import { describe, expect, test } from '@jest/globals';
import { podStatus } from '../../../kubernetes/status/status.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const once = aPod({ restartPolicy: 'Never', volumes: [{ name: 'data', emptyDir: {} }] });

const statusOf = (story: ReturnType<typeof podStory>) =>
  podStatus(story.view(), { now: story.ports.now, hostIps: [], runtimeName: 'cri' });

const readyToStart = (story: ReturnType<typeof podStory>) =>
  statusOf(story).conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;

describe('a completed pod', () => {
  test('C9: releases its cgroup once its volumes are unmounted', () => {
    const story = podStory({ pod: once, held: ['unmountVolume'] });
    story.die('main-0-0', 0);
    expect(story.state()).toBe('terminating.unmountingVolumes');
    expect(story.ports.asked('removeCgroup')).toEqual([]);
    story.ports.answer('unmountVolume');
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('removeCgroup')).toMatchObject([{ ran: ['sandbox-uid-1-0'] }]);
    expect(story.ports.asked('removePodData')).toEqual([]);
  });

  test('C1: under an earlier agent, by its init container, never ran its other containers', () => {
    const pod = aPod({ restartPolicy: 'Never', initContainers: [aContainer({ name: 'setup' })] });
    const story = podStory({
      pod,
      before: (world) => {
        const sandbox = world.sandbox(pod);
        world.run(pod, 'setup', { id: 'setup' });
        world.end('setup', 1);
        world.sandboxes.set(sandbox.id, { ...sandbox, state: 'notReady' });
      },
    });
    expect(story.state()).toBe('finished');
    expect(statusOf(story)).toMatchObject({
      phase: 'Failed',
      initContainerStatuses: [{ state: { terminated: { exitCode: 1 } } }],
      containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
    });
  });

  const later = [
    ['its volumes are still mounted', 'unmountVolume'],
    ['its cgroup is still there', 'removeCgroup'],
  ] as const;

  test.each(later)('C9: reports its terminal phase and has released its resources while %s', (_, port) => {
    const story = podStory({ pod: once, held: [port] });
    expect(story.allocated()).not.toBeNull();
    story.die('main-0-0', 0);
    expect(story.state()).toMatch(/^terminating\./);
    expect(story.allocated()).toBeNull();
    expect(statusOf(story).phase).toBe('Succeeded');
    expect(story.view()).toMatchObject({ hasEnded: true, isReclaimed: false });
    story.ports.answer(port);
    expect(story.view()).toMatchObject({ state: 'finished', isReclaimed: true });
  });

  test.each([
    ['as its status shows', { reason: 'Completed', graceSeconds: 30, at: 0 } as const],
    ['as only its containers show', undefined],
  ])('C9: under an earlier agent, %s, is cleaned up without remounting any volume', (_, termination) => {
    const story = podStory({
      pod: once,
      ...(termination ? { termination } : {}),
      held: ['unmountVolume'],
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'main', { id: 'main' });
        world.end('main', 0);
        world.loseSandbox('sandbox-uid-1-0');
      },
    });
    expect(story.state()).toBe('terminating.unmountingVolumes');
    story.ports.answer('unmountVolume');
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('removeCgroup')).toHaveLength(1);
    const calls = (['mountVolume', 'prepareCgroup', 'runSandbox', 'removePodData'] as const).map((port) =>
      story.ports.asked(port),
    );
    expect(calls).toEqual([[], [], [], []]);
  });

  test('C15: PodReadyToStartContainers turns False with its sandbox, and the address remains', () => {
    const story = podStory({ pod: once, held: ['stopSandboxes'] });
    expect(readyToStart(story)).toBe('True');
    story.die('main-0-0', 0);
    expect([story.state(), readyToStart(story)]).toEqual(['terminating.stoppingSandbox', 'True']);
    story.ports.answer('stopSandboxes');
    expect([story.state(), readyToStart(story)]).toEqual(['finished', 'False']);
  });

  test('stops a sandbox that appears afterwards, and runs nothing again', () => {
    const story = podStory({ pod: once });
    story.die('main-0-0', 0);
    expect(story.state()).toBe('finished');
    story.world.sandbox(once, 1);
    story.observe();
    expect(story.state()).toBe('finished');
    expect(story.world.sandboxes.get('sandbox-uid-1-1')).toMatchObject({ state: 'notReady' });
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('stops a sandbox only once that an outdated list still shows as ready', () => {
    const story = podStory({ pod: once });
    story.observe();
    const earlier = story.world.observed(once);
    story.die('main-0-0', 0);
    story.send({ type: 'runtime.podObserved', pod: earlier });
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('stopSandboxes')).toHaveLength(1);
  });
});

describe('a pod that is being removed', () => {
  test('has the runtime restarted after it has lost one of its containers twice, and again a minute later', () => {
    const story = podStory({ pod: once });
    for (let times = 8; times > 0; times--) story.ports.failNext('removeSandboxes', 'TaskLost');
    story.ports.hold('restartRuntime');
    story.terminate();
    expect(story.state()).toBe('terminating.awaitingRemoveRetry');
    story.ports.advance(10_000);
    expect(story.view()).toMatchObject({ state: 'terminating.restartingRuntime', tags: ['working', 'ended'] });
    expect(story.ports.asked('restartRuntime')).toEqual([{ why: 'cannot remove the sandbox sandbox-uid-1-0' }]);
    story.ports.answer('restartRuntime');
    story.ports.advance(50_000);
    expect(story.ports.asked('restartRuntime')).toHaveLength(1);
    story.ports.advance(10_000);
    expect(story.ports.asked('restartRuntime')).toHaveLength(2);
    story.ports.answer('restartRuntime');
    story.ports.advance(10_000);
    expect(story.state()).toBe('terminated');
  });

  test('C9: has released its resources while its volumes are still mounted', () => {
    const story = podStory({ pod: once, held: ['unmountVolume'] });
    story.terminate();
    expect(story.state()).toBe('terminating.unmountingVolumes');
    expect(story.allocated()).toBeNull();
  });

  test.each([...(['unmountVolume', 'removeCgroup', 'removeSandboxes', 'removePodData'] as const)])(
    'stops and removes a sandbox that appears during %s',
    (port) => {
      const story = podStory({ pod: once, held: [port] });
      story.terminate();
      expect(story.ports.pending()).toEqual([port]);
      story.world.sandbox(once, 1);
      story.observe();
      expect(story.ports.asked('stopSandboxes').at(-1)?.ids).toContain('sandbox-uid-1-1');
      for (let left = 9; left > 0 && story.ports.pending(port).length > 0; left--) story.ports.answer(port);
      expect(story.state()).toBe('terminated');
      expect([...story.world.sandboxes.keys()]).toEqual([]);
      expect(story.ports.pending()).toEqual([]);
    },
  );

  test('stops and removes a sandbox that appears during the wait for another attempt', () => {
    const story = podStory({ pod: once });
    story.ports.failNext('removePodData', 'RuntimeError');
    story.terminate();
    expect(story.state()).toBe('terminating.awaitingDataRetry');
    story.world.sandbox(once, 1);
    story.observe();
    expect(story.state()).toBe('terminated');
    expect([...story.world.sandboxes.keys()]).toEqual([]);
  });

  test('kills what is left in its cgroup even if the runtime has no sandbox of the pod', () => {
    const story = podStory({ pod: aPod({ containers: [aContainer()] }), held: ['preparePod'] });
    story.terminate();
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ pod: { metadata: { uid: 'uid-1' } }, ids: [] }]);
  });

  test('reports a cgroup that cannot be removed, and retries until it can', () => {
    const story = podStory({ pod: once });
    story.ports.failNext('removeCgroup', 'FailedKillPod');
    story.told();
    story.terminate();
    expect(story.view()).toMatchObject({
      state: 'terminating.awaitingCgroupRetry',
      waitingFor: 'another attempt to remove its cgroup',
      until: story.ports.now + 10_000,
    });
    expect(story.told().join()).toContain('Warning FailedKillPod: error killing pod');
    story.ports.advance(10_000);
    expect(story.state()).toBe('terminated');
  });
});
