import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import { podStatus } from '../../../kubernetes/status/status.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';
import { podStory } from '../support/podStory.ts';

const hook = { exec: { command: ['true'] } };
const preStop = hook;
const onExit = (...values: number[]): Partial<Container> => ({
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values } }],
});
const pod = aPod({
  restartPolicy: 'Never',
  initContainers: [aContainer({ name: 'setup' }), aContainer({ name: 'proxy', restartPolicy: 'Always' })],
  containers: [aContainer({ name: 'main', lifecycle: { preStop } }), aContainer({ name: 'watcher', ...onExit(42) })],
  ephemeralContainers: [aContainer({ name: 'debug' })],
});

/** Creates a pod whose init container has completed and whose other containers run. */
function runningPod(of = pod) {
  const story = podStory({ pod: of });
  story.die('setup-0-0', 0);
  expect(story.state()).toBe('active.running.steady');
  return story;
}
const restarts = (story: ReturnType<typeof runningPod>) =>
  Object.fromEntries(story.view().containers.map(({ name, restartCount }) => [name, restartCount]));

describe('a restart rule with RestartAllContainers', () => {
  test('C5: restarts every container in place, init containers first; sandbox and ephemeral containers remain', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.die('watcher-0-0', 42);
    expect(story.state()).toBe('active.restartingAll');
    expect(story.view().isRestartingAll).toBe(true);
    expect(story.containers()).toMatchObject({
      setup: 'pending.waiting',
      main: 'stopping.killing.graceful',
      debug: 'running.steady',
    });
    story.ports.answer('stopContainer');
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toMatchObject({
      setup: 'running.steady',
      proxy: 'pending.waiting',
      main: 'pending.waiting',
    });
    story.die('setup-0-1', 0);
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toMatchObject({
      proxy: 'running.steady',
      main: 'running.steady',
      watcher: 'running.steady',
    });
    expect(restarts(story)).toEqual({ setup: 1, proxy: 1, main: 1, watcher: 1, debug: 0 });
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
    expect(story.view().isRestartingAll).toBeUndefined();
  });

  test('C5: runs no preStop hook, grants no grace period, and has no back-off, also the next time', () => {
    const story = runningPod();
    for (const attempt of [0, 1, 2]) {
      story.die(`watcher-0-${attempt}`, 42);
      story.die(`setup-0-${attempt + 1}`, 0);
    }
    expect(story.ports.asked('runHook')).toEqual([]);
    expect(new Set(story.ports.asked('stopContainer').map(({ graceSeconds }) => graceSeconds))).toEqual(new Set([0]));
    expect(story.ports.untilNext).toBeUndefined();
    expect(restarts(story)).toMatchObject({ main: 3, watcher: 3 });
  });

  test('C5: reports a removed container as waiting with the reason of a kubelet, also as its last state', () => {
    const story = runningPod();
    const shown = (name: string) => {
      const { initContainerStatuses = [], containerStatuses = [] } = podStatus(story.view(), {
        now: story.ports.now,
        hostIps: [],
        runtimeName: 'cri',
      });
      return [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
    };
    story.ports.hold('stopContainer', 'createContainer');
    story.die('watcher-0-0', 42);
    const message = 'The container is removed because RestartAllContainers in place';
    const reason = 'RestartingAllContainers';
    const lastState = { terminated: { exitCode: 137, reason, message, startedAt: null, finishedAt: null } };
    for (const name of ['setup', 'watcher']) {
      expect(shown(name)).toMatchObject({ state: { waiting: { reason, message } }, lastState, restartCount: 1 });
      expect(shown(name)).not.toHaveProperty('containerID');
    }
    expect(shown('main')?.state).toHaveProperty('running');
    while (story.ports.pending('stopContainer').length > 0) story.ports.answer('stopContainer');
    for (const name of ['setup', 'proxy', 'main', 'watcher']) {
      const state = { waiting: { reason: 'PodInitializing' } };
      expect(shown(name)).toMatchObject({ state, lastState, restartCount: 1 });
    }
    story.ports.answer('createContainer');
    expect(shown('setup')).toMatchObject({ state: { running: {} }, lastState, restartCount: 1 });
  });

  test('C5: retains the restart count of a container that exits before its new start has returned', () => {
    const story = runningPod();
    story.die('watcher-0-0', 42);
    story.ports.hold('startContainer');
    story.die('setup-0-1', 0);
    story.ports.answer('startContainer');
    expect(story.containers()).toMatchObject({ main: 'launching.creatingContainer.starting' });
    story.die('main-0-1', 0);
    expect(restarts(story)).toMatchObject({ main: 1 });
  });

  test('C5: applies to a container killed by its probe', () => {
    const containers = [
      aContainer({ name: 'main' }),
      aContainer({ name: 'watcher', livenessProbe: hook, ...onExit(137) }),
    ];
    const story = podStory({ pod: aPod({ containers }), held: ['runProbe'] });
    const failed = { result: 'failure', message: 'no', startedAt: story.ports.now, at: story.ports.now } as const;
    for (let tries = 0; tries < 3; tries++) {
      if (story.ports.pending('runProbe').length === 0) story.ports.advance(10_000);
      story.ports.answer('runProbe', failed);
    }
    expect(restarts(story)).toEqual({ main: 1, watcher: 1 });
  });

  test('C10: is not extended by a stop during the kill', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.die('watcher-0-0', 42);
    story.terminate();
    expect(story.containers()).toMatchObject({ main: 'stopping.killing.graceful' });
    const stopCalls = story.ports.asked('stopContainer').filter(({ id }) => id === 'main-0-0');
    expect(stopCalls).toMatchObject([{ graceSeconds: 0 }]);
  });

  test('C5: does not apply to another exit code', () => {
    const story = runningPod();
    story.die('watcher-0-0', 1);
    expect(story.containers()).toMatchObject({ main: 'running.steady', watcher: 'ended.failed' });
  });

  test('C5: applies to init containers and sidecars as well', () => {
    const story = podStory({
      pod: aPod({ initContainers: [aContainer({ name: 'setup', ...onExit(3) })], restartPolicy: 'Never' }),
    });
    story.die('setup-0-0', 3);
    expect(story.containers()).toEqual({ setup: 'running.steady', main: 'pending.waiting' });
    const sidecar = aContainer({ name: 'proxy', ...onExit(3), restartPolicy: 'Always' });
    const beside = podStory({ pod: aPod({ initContainers: [sidecar] }) });
    beside.die('proxy-0-0', 3);
    expect(restarts(beside)).toEqual({ proxy: 1, main: 1 });
  });

  test('is replaced by a termination, which starts nothing', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.die('watcher-0-0', 42);
    story.terminate();
    const made = story.ports.asked('createContainer').length;
    while (story.ports.pending('stopContainer').length > 0) story.ports.answer('stopContainer');
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('createContainer')).toHaveLength(made);
  });

  test('continues in the next sandbox if the sandbox is lost', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.die('watcher-0-0', 42);
    story.world.loseSandbox('sandbox-uid-1-0');
    story.observe();
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.ports.asked('runSandbox')).toHaveLength(2);
    expect(restarts(story)).toMatchObject({ setup: 1 });
  });

  describe('while the sandbox is verified and found usable', () => {
    type Running = ReturnType<typeof runningPod>;
    const doubts: readonly (readonly [string, (story: Running) => void])[] = [
      ['by a container', (story) => story.send({ type: 'container.notFound' })],
      [
        'by a list',
        ({ send, world }) => send({ type: 'runtime.podObserved', pod: { ...world.observed(pod), sandboxes: [] } }),
      ],
    ];

    test.each(doubts)(
      'C5: waits for all containers to stop, without an interruption in the status (verified %s)',
      (_, doubt) => {
        const story = runningPod();
        story.observe();
        story.ports.hold('stopContainer', 'inspectSandbox');
        story.die('watcher-0-0', 42);
        const stopCount = story.ports.asked('stopContainer').length;
        doubt(story);
        expect([story.state(), story.view().isRestartingAll]).toEqual(['resetting.verifying', true]);
        story.ports.answer('inspectSandbox');
        expect([story.state(), story.view().isRestartingAll]).toEqual(['active.restartingAll', true]);
        expect(story.containers()).toMatchObject({ main: 'stopping.killing.graceful', watcher: 'pending.waiting' });
        expect(story.ports.asked('stopContainer')).toHaveLength(stopCount);
        while (story.ports.pending('stopContainer').length > 0) story.ports.answer('stopContainer');
        expect(story.state()).toBe('active.initializing.steady');
        expect(story.containers()).toMatchObject({ setup: 'running.steady', watcher: 'pending.waiting' });
      },
    );

    test.each(doubts)('C5: still starts init containers first (verified %s)', (_, doubt) => {
      const story = runningPod();
      story.observe();
      // The runtime shows only the previous containers until the first one is recreated.
      story.ports.hold('createContainer');
      story.die('watcher-0-0', 42);
      expect(story.state()).toBe('active.initializing.steady');
      doubt(story);
      expect(story.state()).toBe('active.initializing.steady');
      expect(story.containers()).toMatchObject({
        setup: 'launching.creatingContainer.creating',
        watcher: 'pending.waiting',
      });
    });

    test('C5: does not restart a container that has terminated instead', () => {
      const story = runningPod();
      story.ports.hold('stopContainer');
      story.die('watcher-0-0', 42);
      story.terminate();
      expect(story.view().isRestartingAll).toBeUndefined();
    });
  });

  test.each(['RuntimeUnavailable', 'NotFound'] as const)(
    'C5: stops a possibly started container, whose start returned %s, before starting it again',
    (reason) => {
      const story = containerStory({ pod: aPod(), hold: ['startContainer', 'stopContainer'] });
      story.begin();
      story.send({ type: 'container.reset' });
      story.ports.fail('startContainer', reason);
      expect([story.state(), story.view().restartCount]).toEqual(['stopping.killing.graceful', 0]);
      story.ports.answer('stopContainer', null);
      expect([story.state(), story.view().restartCount]).toEqual(['pending.waiting', 1]);
    },
  );

  test('is completed by a new agent that finds it half done', () => {
    const story = podStory({
      pod,
      before: (world) => {
        world.sandbox(pod);
        const made = (name: string, createdAt: number) => world.run(pod, name, { id: `${name}-0-0`, createdAt });
        for (const name of ['setup', 'proxy', 'main', 'watcher']) made(name, 1);
        for (const name of ['setup', 'proxy', 'main', 'watcher']) world.end(`${name}-0-0`, name === 'setup' ? 0 : 137);
        world.run(pod, 'setup', { id: 'setup-0-1', attempt: 1, createdAt: 2 });
      },
    });
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toMatchObject({ setup: 'running.steady', main: 'pending.waiting' });
  });
});
