import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { PortName } from '../../../../machines/shared/ports.ts';
import { aContainer, aPod, requestsWith } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';
import { queueOf } from '../../support/stand.ts';

const empty = { held: [], queue: [] };
const full = aPod({
  volumes: [{ name: 'data', emptyDir: {} }],
  initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' })],
  containers: [aContainer({ lifecycle: { preStop: { exec: { command: ['true'] } } } })],
});

function runningPod(pod: Pod = full) {
  const story = podStory({ pod });
  expect(story.state()).toBe('active.running.steady');
  return story;
}

/** Checks that nothing of the pod remains. */
function expectGone(story: ReturnType<typeof podStory>) {
  expect(story.state()).toBe('terminated');
  expect([...story.world.sandboxes.keys(), ...story.world.containers.keys()]).toEqual([]);
  expect(story.ports.asked('removePodData')).toHaveLength(1);
  expect(story.allocated()).toBeNull();
  expect([queueOf(story.startLimiter), queueOf(story.pullLimiter)]).toEqual([empty, empty]);
  expect(story.ports.pending()).toEqual([]);
  expect(story.ports.untilNext).toBeUndefined();
}

describe('termination', () => {
  test('removes containers, sandbox, volumes, cgroup, runtime objects and directory in this order', () => {
    const story = runningPod();
    const before = story.ports.calls.length;
    story.terminate();
    const order = story.ports.calls.slice(before).map(({ port }) => port);
    expect(order.filter((name) => name !== 'runHook' && name !== 'stopContainer')).toEqual([
      'stopSandboxes',
      'unmountVolume',
      'removeCgroup',
      'removeSandboxes',
      'removePodData',
    ]);
    expect(order.lastIndexOf('stopContainer')).toBeLessThan(order.indexOf('stopSandboxes'));
    expectGone(story);
  });

  test('C10: all containers share one grace period', () => {
    const story = runningPod();
    story.ports.hold('runHook', 'stopContainer');
    const deadline = story.ports.now + 30_000;
    story.terminate(30);
    story.ports.advance(12_000);
    story.ports.answer('runHook');
    story.ports.answer('stopContainer');
    expect(story.ports.asked('stopContainer').map((input) => input.deadline)).toEqual([deadline, deadline]);
    expect(story.view()).toMatchObject({ state: 'terminating.stoppingContainers.graceful', until: deadline });
  });

  test('C10: shows no deadline after the grace period; an earlier deadline replaces it', () => {
    const story = runningPod();
    story.ports.hold('runHook', 'stopContainer');
    story.terminate(30);
    story.terminate(5);
    story.ports.advance(4_999);
    expect(story.view()).toMatchObject({
      state: 'terminating.stoppingContainers.graceful',
      until: story.ports.now + 1,
    });
    story.ports.advance(1);
    expect([story.view().state, story.view().until]).toEqual(['terminating.stoppingContainers.overdue', undefined]);
  });

  test('C10: a second termination may shorten the grace period, never extend it', () => {
    const story = runningPod(aPod());
    story.ports.hold('stopContainer');
    story.terminate(30);
    story.terminate(300, { reason: 'Evicted' });
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    story.ports.advance(1_000);
    story.terminate(5, { reason: 'Evicted', phase: 'Failed' });
    expect(story.ports.asked('stopContainer').at(-1)?.deadline).toBe(story.ports.now + 5_000);
    expect(story.view().termination).toMatchObject({ reason: 'Removed', graceSeconds: 5 });
    story.ports.answer('stopContainer');
    expectGone(story);
  });

  test('restarts no container', () => {
    const story = runningPod(
      aPod({
        containers: [
          aContainer({ name: 'a' }),
          aContainer({ name: 'b', lifecycle: full.spec.containers[0]?.lifecycle ?? {} }),
        ],
      }),
    );
    story.ports.hold('runHook');
    story.terminate();
    expect(story.containers()).toEqual({ a: 'stopped', b: 'stopping.runningPreStop.bounded' });
    story.die('b-0-0', 1);
    expectGone(story);
  });

  test('ignores updates and earlier admissions', () => {
    const story = runningPod(aPod());
    story.ports.hold('stopContainer');
    story.terminate();
    story.send({ type: 'pod.update', pod: aPod({ containers: [aContainer({ image: 'b:1' })] }) });
    story.send({ type: 'admission.admitted', pod: aPod() });
    story.ports.answer('stopContainer');
    expect(story.ports.asked('createContainer')).toHaveLength(1);
    expectGone(story);
  });

  const stages: readonly PortName[] = [
    ...(['preparePod', 'mountVolume', 'runSandbox', 'findImage', 'createContainer', 'startContainer'] as const),
  ];

  test.each(stages)('during %s leaves nothing behind', (port) => {
    const story = podStory({ pod: full, held: [port] });
    story.terminate();
    while (story.ports.pending(port).length > 0) story.ports.answer(port);
    expectGone(story);
  });

  test.each(stages)('during the wait after a failed %s leaves nothing behind', (port) => {
    const story = podStory({ pod: full, failing: [port] });
    expect(story.state()).not.toBe('active.running.steady');
    story.terminate();
    expectGone(story);
  });

  const ends: readonly PortName[] = [
    ...(['stopContainer', 'stopSandboxes', 'unmountVolume'] as const),
    ...(['removeCgroup', 'removeSandboxes', 'removePodData'] as const),
  ];

  test.each(ends)('retries a failed %s until it succeeds', (port) => {
    const story = runningPod();
    story.ports.failNext(port, 'RuntimeUnavailable');
    story.ports.failNext(port, 'RuntimeUnavailable');
    story.terminate();
    expect(story.state()).toMatch(/^terminating\./);
    story.ports.advance(60_000);
    expect(story.state()).toBe('terminated');
    expect(story.ports.pending()).toEqual([]);
  });

  test('leaves the queue of the limiter', () => {
    const story = podStory({ held: ['preparePod'] });
    for (const key of ['a/x', 'b/x']) {
      story.startLimiter.send({ type: 'slot.request', purpose: 'a start', key, arrivalOrder: 0, holder: ['other'] });
    }
    story.ports.answer('preparePod');
    expect(story.state()).toBe('sandboxing.creatingSandbox.queued');
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(queueOf(story.startLimiter).queue).toEqual([]);
  });

  test('removes a sandbox that is created meanwhile, and starts nothing in it', () => {
    const story = podStory({ held: ['runSandbox'] });
    story.terminate();
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    story.ports.answer('runSandbox');
    expect(story.ports.asked('createContainer')).toEqual([]);
    expectGone(story);
  });

  test('stops everything that the runtime has of a pod that only terminates', () => {
    const story = podStory({
      termination: { reason: 'Orphaned', graceSeconds: 1, at: 0 },
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'main');
      },
    });
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    expectGone(story);
  });
});

describe('a lost sandbox', () => {
  const lose = (story: ReturnType<typeof podStory>, attempt = 0) => {
    story.world.loseSandbox(`sandbox-uid-1-${attempt}`);
    story.observe();
  };

  test('C8: is verified, drained, and recreated as the next attempt, in which containers run again', () => {
    const story = runningPod();
    lose(story);
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1 });
    expect(story.containers()).toEqual({ proxy: 'running.steady', main: 'running.steady' });
    lose(story, 1);
    expect(story.context().sandbox).toMatchObject({ attempt: 2 });
    expect(story.containers()).toEqual({ proxy: 'ended.backingOff', main: 'ended.backingOff' });
    story.ports.advance(10_000);
    expect(story.containers()).toEqual({ proxy: 'running.steady', main: 'running.steady' });
    // Containers of the old sandboxes remain for their logs, until the garbage collection of the node removes them.
    expect(story.ports.asked('removeSandboxes')).toEqual([]);
    expect(story.ports.asked('stopSandboxes')).toHaveLength(2);
  });

  test('C8: is not assumed because of an outdated list', () => {
    const story = runningPod();
    story.send({ type: 'runtime.podObserved', pod: { ...story.world.observed(full), sandboxes: [] } });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('inspectSandbox')).toHaveLength(1);
    expect(story.ports.asked('stopContainer')).toEqual([]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('C8: is also assumed if another one is ready beside it: both are stopped and replaced by a third', () => {
    const story = runningPod();
    story.world.sandbox(full, 5);
    story.observe();
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 6 });
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ ids: ['sandbox-uid-1-0', 'sandbox-uid-1-5'] }]);
    story.observe();
    expect(story.ports.asked('runSandbox')).toHaveLength(2);
  });

  test('C8: is not assumed because an outdated list shows only another one as ready', () => {
    const story = runningPod();
    const shown = story.world.observed(full);
    const sandboxes = shown.sandboxes.map((each) => ({ ...each, id: 'another' }));
    story.send({ type: 'runtime.podObserved', pod: { ...shown, sandboxes } });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('C8: is replaced after a change of the network mode', () => {
    const story = runningPod();
    story.ports.hold('inspectSandbox');
    story.send({ type: 'pod.update', pod: { ...full, spec: { ...full.spec, hostNetwork: true } } });
    expect(story.state()).toBe('resetting.verifying');
    const { sandbox } = story.context();
    if (sandbox === undefined) throw new Error('the pod has no sandbox');
    story.ports.answer('inspectSandbox', { ...sandbox, hostNetwork: false });
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1 });
    expect(story.ports.asked('runSandbox').at(-1)).toMatchObject({ pod: { spec: { hostNetwork: true } } });
  });

  test('C8: is not assumed while the runtime is not available', () => {
    const story = runningPod();
    for (let times = 0; times < 2; times++) story.ports.failNext('inspectSandbox', 'RuntimeUnavailable');
    story.send({ type: 'runtime.podObserved', pod: { ...story.world.observed(full), sandboxes: [] } });
    expect(story.state()).toBe('resetting.awaitingRetry');
    story.ports.advance(1_000);
    expect(story.state()).toBe('resetting.awaitingRetry');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('C3: runs init containers again before the others', () => {
    const story = podStory({ pod: aPod({ initContainers: [aContainer({ name: 'setup' })] }) });
    story.die('setup-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
    lose(story);
    expect(story.view()).toMatchObject({ state: 'active.initializing.steady', isInitialized: false });
    expect(story.containers()).toEqual({ setup: 'running.steady', main: 'launching.readyToCreate' });
    story.die('setup-1-1', 0);
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
    expect(story.state()).toBe('active.running.steady');
  });

  test('C3: runs them one after the other, although each had succeeded before', () => {
    const initContainers = ['first', 'second'].map((name) => aContainer({ name }));
    const story = podStory({ pod: aPod({ initContainers }) });
    story.die('first-0-0', 0);
    story.die('second-0-0', 0);
    lose(story);
    expect(story.containers()).toMatchObject({ first: 'running.steady', main: 'launching.readyToCreate' });
    story.die('first-1-1', 0);
    expect(story.view()).toMatchObject({ state: 'active.initializing.steady', isInitialized: false });
    expect(story.containers()).toMatchObject({ second: 'running.steady', main: 'launching.readyToCreate' });
    story.die('second-1-1', 0);
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
  });

  test('C8: is not replaced with policy Never and containers that ran', () => {
    const story = runningPod(aPod({ restartPolicy: 'Never' }));
    lose(story);
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test.each(['findImage', 'createContainer', 'startContainer'] as const)(
    'C8: is replaced while %s of a container is pending, and the container then runs',
    (port) => {
      const story = podStory({ held: [port] });
      story.observe();
      lose(story);
      if (port === 'findImage') expect(story.state()).toBe('active.running.steady');
      expect(story.context().sandbox).toMatchObject({ attempt: 1 });
      expect(story.ports.pending()).toEqual([port]);
      story.ports.answer(port);
      expect(story.containers()).toEqual({ main: 'running.steady' });
    },
  );

  test('C8: while a container is in back-off, which continues', () => {
    const story = runningPod(aPod());
    story.die('main-0-0', 1);
    story.die('main-0-1', 1);
    expect(story.containers()).toEqual({ main: 'ended.backingOff' });
    lose(story);
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toEqual({ main: 'ended.backingOff' });
    story.ports.advance(10_000);
    expect(story.containers()).toEqual({ main: 'running.steady' });
    expect(story.ports.asked('createContainer').at(-1)?.sandbox.attempt).toBe(1);
  });

  test('is not replaced if the pod terminates during the drain', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.world.sandboxes.clear();
    story.observe();
    expect(story.state()).toBe('resetting.draining');
    story.terminate();
    while (story.ports.pending('stopContainer').length > 0) story.ports.answer('stopContainer');
    expect(story.state()).toBe('terminated');
  });

  test('is cleared before a new one is created if the runtime has two', () => {
    const story = podStory({
      before: (world, pod) => {
        world.sandbox(pod, 0);
        world.sandbox(pod, 1);
      },
    });
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ ids: ['sandbox-uid-1-1', 'sandbox-uid-1-0'] }]);
    expect(story.context().sandbox).toMatchObject({ attempt: 2 });
    expect(story.world.sandboxes.get('sandbox-uid-1-2')).toMatchObject({ state: 'ready' });
  });
});

describe('adoption', () => {
  test('takes over a running pod without creating, stopping or removing anything', () => {
    const story = podStory({
      before: (world, pod) => {
        world.sandbox(pod, 3);
        world.run(pod, 'main', { id: 'main', sandboxId: `sandbox-${pod.metadata.uid}-3`, attempt: 2 });
      },
      taken: requestsWith({ cpuMillis: 4_000 }),
    });
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toEqual({ main: 'running.steady' });
    expect(story.ports.calls.map(({ port }) => port)).toEqual([
      'preparePod',
      'prepareCgroup',
      'inspectSandbox',
      'inspectContainer',
    ]);
    expect(story.view().containers).toMatchObject([{ restartCount: 2 }]);
  });

  test('C3: does not run completed init containers again', () => {
    const pod = aPod({ initContainers: [aContainer({ name: 'setup' })] });
    const story = podStory({
      pod,
      before: (world) => {
        world.sandbox(pod);
        world.run(pod, 'setup', { id: 'setup' });
        world.end('setup', 0);
        world.run(pod, 'main', { id: 'main' });
      },
    });
    expect(story.state()).toBe('active.running.steady');
    expect(story.view().isInitialized).toBe(true);
    expect(story.ports.asked('createContainer')).toEqual([]);
  });

  test('starts a container in its turn that an init container preceded', () => {
    const pod = aPod({ initContainers: [aContainer({ name: 'setup' })] });
    const story = podStory({
      pod,
      before: (world) => {
        world.sandbox(pod);
        world.run(pod, 'setup', { id: 'setup' });
        world.end('setup', 0);
      },
    });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('createContainer').map(({ container }) => container)).toEqual(['main']);
  });

  test('recreates a sandbox that is gone when queried', () => {
    const story = podStory({ before: (world, pod) => world.sandbox(pod), held: ['inspectSandbox'] });
    expect(story.state()).toBe('sandboxing.adopting');
    story.ports.answer('inspectSandbox', null);
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1 });
  });

  test.each([
    ['has no address', { ips: [] }],
    ['is on the host network although the pod is not', { ips: ['10.0.0.9'], hostNetwork: true }],
  ])('C8: recreates a sandbox that %s', (_, changes) => {
    const story = podStory({ before: (world, pod) => world.sandbox(pod), held: ['inspectSandbox'] });
    const [adopted] = story.context().observed.sandboxes;
    if (adopted === undefined) throw new Error('the pod has no sandbox to adopt');
    story.ports.answer('inspectSandbox', { ...adopted, ...changes });
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1 });
  });
});
