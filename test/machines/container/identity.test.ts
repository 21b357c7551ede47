import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';

/** Creates a running container. */
function runningContainer(...options: Parameters<typeof containerStory>) {
  const story = containerStory(...options);
  story.begin();
  expect(story.state()).toBe('running.steady');
  return story;
}

describe('identity', () => {
  const edited = (over: Parameters<typeof aContainer>[0]) => aPod({ containers: [aContainer(over)] });
  const update = (pod = aPod()) => ({ type: 'container.update', pod, volumes: {} }) as const;

  test('C6: a new image replaces the container, at once and without a back-off', () => {
    const story = runningContainer();
    story.send(update(edited({ image: 'busybox:2' })));
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 1, imageRef: 'sha256:busybox:2' });
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    story.die(1);
    expect(story.state()).toBe('running.steady');
  });

  test('C7: counts the start with a new image only if a run had terminated before the kill', () => {
    const fresh = runningContainer();
    fresh.send(update(edited({ image: 'busybox:2' })));
    expect(fresh.context().crashDelayMs).toBeUndefined();
    const crashed = runningContainer();
    crashed.die(1);
    crashed.send(update(edited({ image: 'busybox:2' })));
    expect(crashed.state()).toBe('running.steady');
    expect(crashed.context()).toMatchObject({ attempt: 2, crashDelayMs: 0 });
    crashed.die(1);
    expect(crashed.state()).toBe('ended.backingOff');
  });

  test('C6: any other change leaves the container alone', () => {
    const story = runningContainer();
    story.send(update(edited({ args: ['more'] })));
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('C6: a new image cancels the wait for the pull of the old one', () => {
    const story = containerStory();
    story.ports.hold('findImage');
    story.begin();
    story.ports.fail('findImage', 'ErrImagePull');
    story.send(update(edited({ image: 'busybox:2' })));
    expect(story.state()).toBe('pending.gettingImage.checking');
    story.ports.answer('findImage');
    expect(story.context()).toMatchObject({ imageRef: 'sha256:busybox:2' });
    expect(story.state()).toBe('running.steady');
  });

  test.each(['createContainer', 'startContainer'] as const)(
    'C6: a new image during %s replaces the container afterwards',
    (name) => {
      const story = containerStory();
      story.ports.hold(name);
      story.begin();
      story.send(update(edited({ image: 'busybox:2' })));
      expect(story.ports.pending()).toEqual([name]);
      story.ports.answer(name);
      story.ports.answer(name);
      if (name === 'createContainer') story.ports.advance(0);
      expect(story.state()).toBe('running.steady');
      expect(story.context()).toMatchObject({ attempt: 1, imageRef: 'sha256:busybox:2' });
    },
  );

  test('C6: a new image while a launch is awaited is checked first', () => {
    const story = containerStory();
    story.ports.failNext('createContainer', 'CreateContainerError');
    story.begin();
    story.send(update(edited({ image: 'busybox:2' })));
    story.ports.advance(10_000);
    expect(story.state()).toBe('running.steady');
    expect(story.context().imageRef).toBe('sha256:busybox:2');
  });

  test('C6: a new image cancels the back-off of the old one', () => {
    const story = runningContainer();
    story.die(1);
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    story.send(update(edited({ image: 'busybox:2' })));
    expect(story.state()).toBe('running.steady');
  });

  test('a new image does not restart a container that its policy leaves completed', () => {
    const story = runningContainer({ pod: aPod({ restartPolicy: 'Never' }) });
    story.die(1);
    story.send(update(aPod({ restartPolicy: 'Never', containers: [aContainer({ image: 'busybox:2' })] })));
    expect(story.state()).toBe('ended.failed');
  });
});

describe('adoption', () => {
  // containerd reports the start time only if it can still read it.
  test.each([{ startedAt: 7 }, {}])(
    'stops a container in an unknown state (%j), and reports it as waiting with its restart count meanwhile',
    (began) => {
      const story = containerStory({
        before: (world, pod) => {
          world.run(pod, 'main', { id: 'ended', attempt: 1 });
          world.end('ended', 1);
          const unclear = world.container(pod, 'main', { id: 'unclear', attempt: 2, state: 'unknown', ...began });
          world.containers.set(unclear.id, unclear);
        },
        hold: ['stopContainer'],
      });
      expect(story.state()).toBe('stopping.killing.graceful');
      expect(story.view()).toMatchObject({
        now: { kind: 'waiting', reason: 'ContainerCreating' },
        lastRun: { containerId: 'ended' },
        containerId: 'unclear',
        isAwaitingRun: true,
        isStateUnknown: true,
        restartCount: 2,
        ready: false,
      });
      story.die(137);
      expect(story.view()).toMatchObject({ now: { run: { containerId: 'unclear' } }, restartCount: 2 });
      expect(story.view()).not.toHaveProperty('isAwaitingRun');
    },
  );

  test('adopts a running container with its restart count', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main', { attempt: 4 }) });
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 4, id: 'main-0-0' });
    story.begin();
    expect(story.ports.calls.map(({ port }) => port)).toEqual(['inspectContainer']);
  });

  test('C6: recreates a container whose image changed while the agent was not running', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main', { hash: 'old' }) });
    story.begin();
    expect(story.state()).toBe('running.steady');
    expect(story.context().attempt).toBe(1);
  });

  test('restarts a container that exited meanwhile by its policy, once its turn has come', () => {
    const story = containerStory({
      before: (world, pod) => {
        world.run(pod, 'main');
        world.end('main-0-0', 1);
      },
    });
    expect(story.state()).toBe('pending.waiting');
    story.begin();
    expect(story.context().attempt).toBe(1);
    expect(story.state()).toBe('running.steady');
  });

  test('C23: assigns the next attempt to a container that ran and is gone when queried', () => {
    const story = containerStory({
      before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 2 })],
      hold: ['inspectContainer', 'createContainer'],
    });
    story.ports.answer('inspectContainer', null);
    story.begin();
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 3 }]);
    expect(story.view()).toMatchObject({
      restartCount: 2,
      now: { kind: 'waiting' },
      lastRun: { reason: 'ContainerStatusUnknown' },
    });
  });

  describe('C23: reads the next attempt from the logs if the runtime has lost the container', () => {
    const lost = (state: 'running' | 'created', ...failing: readonly ['countRestarts'] | readonly []) => {
      const story = containerStory({
        before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 2, state })],
        hold: ['inspectContainer', ...(failing.length > 0 ? [] : (['countRestarts'] as const)), 'createContainer'],
        failing,
      });
      story.ports.answer('inspectContainer', null);
      return story;
    };

    test.each(['running', 'created'] as const)('even if an outdated list showed it as %s', (state) => {
      const story = lost(state);
      expect(story.state()).toBe('adopting.countingRestarts');
      story.ports.answer('countRestarts', { restarts: { main: 4 } });
      story.begin();
      expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 4 }]);
      expect(story.view()).toMatchObject({ restartCount: 3, lastRun: { reason: 'ContainerStatusUnknown' } });
    });

    test('and retains the attempt of one that was created and has no log of a start', () => {
      const story = lost('created');
      story.ports.answer('countRestarts', { restarts: { main: 2 } });
      story.begin();
      expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 2 }]);
      expect(story.ports.asked('countRestarts')).toHaveLength(1);
      expect(story.view()).toMatchObject({ restartCount: 2 });
      expect(story.view()).not.toHaveProperty('lastRun');
    });

    test('and does not let unreadable logs prevent it from running', () => {
      const story = lost('running', 'countRestarts');
      story.begin();
      expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 3 }]);
    });

    test('and waits no longer than 5 s for them when it is stopped', () => {
      const story = lost('running');
      story.stop(30);
      expect(story.ports.asked('countRestarts').map(({ limitMs }) => limitMs)).toEqual([undefined, 5_000]);
      story.ports.answer('countRestarts', { restarts: {} });
      expect([story.state(), story.view().restartCount]).toEqual(['stopped', 2]);
    });
  });

  test('and treats one whose exit was observed during the query as exited, also if the runtime has lost it since', () => {
    const story = containerStory({
      before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 2 })],
      hold: ['inspectContainer', 'createContainer'],
    });
    story.die(0);
    story.ports.answer('inspectContainer', null);
    expect(story.view()).toMatchObject({ now: { run: { exitCode: 0 } }, restartCount: 2 });
    expect(story.view()).not.toHaveProperty('lastRun');
    story.begin();
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 3 }]);
  });

  test('recreates a container that was created and never started with the same attempt', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main', { state: 'created' }) });
    story.begin();
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 0 }]);
    expect(story.state()).toBe('running.steady');
  });

  test('C9: reports a container that was never started as coming, so that no later one is launched before it', () => {
    const story = containerStory({
      before: (world, pod) => world.run(pod, 'main', { state: 'created' }),
      hold: ['inspectContainer'],
    });
    story.begin();
    story.ports.answer('inspectContainer');
    expect(story.lifecycles()).toEqual(['coming', 'readyToCreate', 'launching', 'running']);
  });

  test('retries while the runtime is not available, and at once on its return', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main'), failing: ['inspectContainer'] });
    expect(story.state()).toBe('adopting.awaitingRetry');
    story.ports.failNext('inspectContainer', 'RuntimeUnavailable');
    story.ports.advance(1_000);
    expect(story.state()).toBe('adopting.awaitingRetry');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('running.steady');
  });
});

describe('a container of which the runtime has nothing', () => {
  /** Creates a container whose restarts are being counted in its logs. */
  const lostContainer = () => {
    const story = containerStory({ hold: ['countRestarts'] });
    story.begin();
    expect(story.state()).toBe('pending.countingRestarts');
    return story;
  };

  test('C23: continues the restart count in its logs', () => {
    const story = lostContainer();
    story.ports.answer('countRestarts', { restarts: { main: 4 } });
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 4 }]);
    expect(story.view().restartCount).toBe(4);
    story.die(1);
    expect(story.context().attempt).toBe(5);
    expect(story.ports.asked('countRestarts')).toHaveLength(1);
  });

  test('C23: starts at 0 if they cannot be counted', () => {
    const story = lostContainer();
    story.ports.fail('countRestarts', 'RuntimeError');
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 0 }]);
  });

  test('C23: retains the attempt of a container that was created and never started', () => {
    const story = containerStory({
      before: (world, pod) => world.run(pod, 'main', { state: 'created', attempt: 2 }),
    });
    story.begin();
    // A start call of an earlier agent may still be in flight, and its log file has the same attempt number.
    expect(story.ports.asked('countRestarts')).toEqual([]);
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 2 }]);
  });

  test('C23: counts a container that an earlier agent created and never started', () => {
    const before: Parameters<typeof containerStory>[0] = {
      before: (world, pod) => world.run(pod, 'main', { state: 'created', attempt: 2 }),
    };
    const story = containerStory({ ...before, hold: ['createContainer'] });
    story.begin();
    expect(story.view().restartCount).toBe(2);
  });

  /**
   * Creates a container that exited, that an earlier agent then recreated without starting it, and that is now being
   * created once more.
   */
  const recreated = (exitCode: number, role: 'init' | 'regular', restartPolicy: 'Always' | 'OnFailure') => {
    const story = containerStory({
      pod: aPod({ restartPolicy }),
      role,
      before: (world, pod) => {
        world.run(pod, 'main', { id: 'ended', attempt: 1 });
        world.end('ended', exitCode);
        world.run(pod, 'main', { id: 'made', attempt: 2, state: 'created' });
      },
      hold: ['createContainer'],
    });
    story.begin();
    expect(story.state()).toBe('launching.creatingContainer.creating');
    return story;
  };

  test('C23: reports it as waiting, with the previous run as last state', () => {
    const story = recreated(1, 'regular', 'Always');
    expect(story.view()).toMatchObject({
      now: { kind: 'waiting', reason: 'ContainerCreating' },
      lastRun: { containerId: 'ended' },
      containerId: 'made',
      isAwaitingRun: true,
      restartCount: 2,
    });
    story.ports.answer('createContainer');
    expect(story.view()).toMatchObject({ now: { kind: 'running' }, lastRun: { containerId: 'ended' } });
    expect(story.view()).not.toHaveProperty('isAwaitingRun');
  });

  test('C23: reports the previous run if no other state may follow it', () => {
    const done = recreated(0, 'init', 'OnFailure');
    expect(done.view()).toMatchObject({ now: { kind: 'terminated', run: { containerId: 'ended' } } });
  });

  test('C23: reads no logs while the runtime still has a run', () => {
    const story = containerStory({
      before: (world, pod) => {
        world.run(pod, 'main', { attempt: 2 });
        world.end('main-0-0', 1);
      },
    });
    story.begin();
    expect(story.ports.asked('countRestarts')).toEqual([]);
    expect(story.context().attempt).toBe(3);
  });

  test('C23: accepts a stop, a reset, a different sandbox and a different image meanwhile', () => {
    const stopped = lostContainer();
    stopped.stop();
    expect(stopped.state()).toBe('stopped');

    const reset = lostContainer();
    reset.send({ type: 'container.reset' });
    expect(reset.state()).toBe('pending.waiting');

    const moved = lostContainer();
    moved.send({ type: 'sandbox.lost' });
    moved.ports.answer('countRestarts', { restarts: { main: 1 } });
    expect(moved.state()).toBe('launching.readyToCreate');

    const updated = lostContainer();
    const pod = aPod({ containers: [aContainer({ image: 'next' })] });
    updated.send({ type: 'container.update', pod, volumes: {} });
    expect(updated.ports.asked('findImage')).toMatchObject([{}, { image: 'next' }]);
    updated.ports.answer('countRestarts', { restarts: { main: 1 } });
    expect(updated.ports.asked('createContainer')).toMatchObject([{ attempt: 1, imageRef: 'sha256:next' }]);
  });
});
