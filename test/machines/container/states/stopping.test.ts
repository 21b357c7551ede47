import { describe, expect, test } from '@jest/globals';
import type { PortName } from '../../../../machines/shared/ports.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';
import { queueOf } from '../../support/stand.ts';

const empty = { held: [], queue: [] };
const exec = { exec: { command: ['true'] } };
const withPreStop = aPod({ containers: [aContainer({ lifecycle: { preStop: exec } })] });

/** Creates a container that waits for the result of this port. */
function containerAt(port: PortName, pod = aPod()) {
  const story = containerStory({ pod });
  story.ports.hold(port);
  story.begin();
  expect(story.ports.pending()).toEqual([port]);
  return story;
}

describe('stopping a running container', () => {
  test('C10: the preStop hook and the signal share one deadline', () => {
    const story = containerStory({ pod: withPreStop });
    story.begin();
    story.ports.hold('runHook', 'stopContainer');
    story.stop(30);
    const deadline = story.ports.now + 30_000;
    expect(story.state()).toBe('stopping.runningPreStop.bounded');
    expect(story.ports.asked('runHook')).toMatchObject([{ hook: 'preStop', deadline }]);
    story.ports.advance(20_000);
    story.ports.answer('runHook');
    expect(story.state()).toBe('stopping.killing.graceful');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'main-0-0', deadline }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
    expect(story.lifecycles().at(-1)).toBe('stopped');
    expect(story.context().run).toMatchObject({ exitCode: 137 });
  });

  test('C10: waits for the runtime after the grace period, up to the limit of the call', () => {
    const story = containerStory();
    story.begin();
    story.ports.hold('stopContainer');
    const by = story.ports.now + 10_000;
    story.send({ type: 'container.stop', deadline: by, graceSeconds: 10 });
    expect(story.node()).toMatchObject({ state: 'stopping.killing.graceful', until: by });
    story.ports.advance(10_000);
    expect(story.node()).toMatchObject({ waitingFor: 'the runtime to kill its process', until: 122_000 });
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: by, graceSeconds: 10 }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
  });

  test('C10: a failed hook does not prevent the stop', () => {
    const story = containerStory({ pod: withPreStop });
    story.begin();
    story.ports.failNext('runHook', 'FailedPreStopHook');
    story.stop(30);
    expect(story.state()).toBe('stopped');
  });

  test('C10: a second stop may only shorten the grace period, and the hook runs until its end', () => {
    const story = containerStory({ pod: withPreStop });
    story.begin();
    story.ports.hold('runHook', 'stopContainer');
    story.stop(30);
    story.stop(60);
    story.ports.advance(1_000);
    story.stop(5);
    const deadline = story.ports.now + 5_000;
    story.ports.advance(4_999);
    expect(story.state()).toBe('stopping.runningPreStop.bounded');
    story.ports.advance(1);
    expect(story.state()).toBe('stopping.killing.overdue');
    expect(story.ports.asked('stopContainer').map((input) => input.deadline)).toEqual([deadline]);
    story.stop(60);
    story.stop();
    expect(story.context().stopBy).toBe(deadline);
    story.stop(-3);
    expect(story.ports.asked('stopContainer').map((input) => input.deadline)).toEqual([deadline, deadline - 3_000]);
    expect(story.ports.pending()).toEqual(['stopContainer']);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
  });

  test('does not restart the container, whatever its policy and exit code', () => {
    const story = containerStory();
    story.begin();
    story.ports.hold('stopContainer');
    story.stop(30);
    story.die(1);
    expect(story.state()).toBe('stopped');
    expect(story.context().run).toMatchObject({ exitCode: 1 });
    expect(story.ports.pending()).toEqual([]);
  });

  test('C13: an exit that was not observed is 137, ContainerStatusUnknown', () => {
    const story = containerStory();
    story.begin();
    story.world.containers.clear();
    story.stop(30);
    expect(story.state()).toBe('stopped');
    expect(story.context().run).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  });

  test('a stop that failed because the runtime was not available is retried, at once on its return', () => {
    const story = containerStory();
    story.begin();
    for (let times = 0; times < 2; times++) story.ports.failNext('stopContainer', 'RuntimeUnavailable');
    story.stop(30);
    expect(story.state()).toBe('stopping.awaitingRetry');
    story.ports.advance(1_000);
    expect(story.state()).toBe('stopping.awaitingRetry');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('stopped');
  });

  test('a shorter stop does not wait for the retry of a failed one', () => {
    const story = containerStory();
    story.begin();
    story.ports.failNext('stopContainer', 'RuntimeUnavailable');
    story.stop(30);
    story.stop(1);
    expect(story.state()).toBe('stopped');
  });

  test('is final', () => {
    const story = containerStory();
    story.begin();
    story.stop(30);
    story.begin(1);
    story.observe('main-0-0');
    story.send({
      type: 'container.update',
      pod: aPod({ containers: [aContainer({ image: 'busybox:2' })] }),
      volumes: {},
    });
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('stopped');
    expect(story.ports.asked('createContainer')).toHaveLength(1);
  });
});

describe('stopping a container that does not run yet', () => {
  test.each(['findImage', 'pullImage'] as const)('during %s cancels the wait immediately', (port) => {
    const pull = aPod({ containers: [aContainer({ imagePullPolicy: 'Always' })] });
    const story = containerAt(port, pull);
    story.stop(30);
    expect(story.state()).toBe('stopped');
    expect(story.ports.pending()).toEqual([]);
    expect([queueOf(story.pullLimiter), queueOf(story.startLimiter)]).toEqual([empty, empty]);
    expect(story.lifecycles()).toEqual(['pending', 'coming', 'stopped']);
  });

  test('before its turn, and while it waits for a sandbox', () => {
    const early = containerStory();
    early.stop(30);
    expect(early.state()).toBe('stopped');
    const readyToCreate = containerStory();
    readyToCreate.send({ type: 'container.start' });
    expect(readyToCreate.state()).toBe('launching.readyToCreate');
    readyToCreate.stop(30);
    expect(readyToCreate.state()).toBe('stopped');
  });

  test('in the queue of the limiter leaves the queue', () => {
    const story = containerStory();
    story.startLimiter.send({
      type: 'slot.request',
      purpose: 'a start',
      key: 'other',
      arrivalOrder: 0,
      holder: ['other'],
    });
    story.begin();
    expect(queueOf(story.startLimiter).queue).toHaveLength(1);
    story.stop(30);
    expect(story.state()).toBe('stopped');
    expect(queueOf(story.startLimiter)).toEqual({ held: ['other'], queue: [] });
  });

  test('during the creation waits for the response, because the container must be known in order to be removed', () => {
    const story = containerAt('createContainer');
    story.stop(30);
    expect(story.ports.pending()).toEqual(['createContainer']);
    story.ports.answer('createContainer');
    expect(story.state()).toBe('stopped');
    expect([...story.world.containers.keys()]).toEqual(['main-0-0']);
    expect(story.ports.asked('startContainer')).toEqual([]);
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('during a creation that fails', () => {
    const story = containerAt('createContainer');
    story.stop(30);
    story.ports.fail('createContainer', 'CreateContainerError');
    expect(story.state()).toBe('stopped');
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('during the start stops the process once it is known to run', () => {
    const story = containerAt('startContainer');
    story.stop(30);
    expect(story.ports.pending()).toEqual(['startContainer']);
    story.ports.answer('startContainer');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'main-0-0' }]);
    expect(story.state()).toBe('stopped');
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('during a failed start stops the container nevertheless, because the start may have succeeded', () => {
    const story = containerAt('startContainer');
    story.stop(30);
    story.ports.fail('startContainer', 'RuntimeUnavailable');
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    expect(story.state()).toBe('stopped');
  });

  test('during the wait for another start stops the container that an earlier call may have created', () => {
    const story = containerStory();
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    story.stop(30);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'main-0-0' }]);
    expect(story.state()).toBe('stopped');
  });

  test('during the postStart hook', () => {
    const story = containerAt('runHook', aPod({ containers: [aContainer({ lifecycle: { postStart: exec } })] }));
    story.stop(30);
    expect(story.ports.pending()).toEqual([]);
    expect(story.state()).toBe('stopped');
  });

  test('in the back-off', () => {
    const story = containerStory();
    story.begin();
    story.die(1);
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    story.stop(30);
    expect(story.state()).toBe('stopped');
    expect(story.ports.untilNext).toBeUndefined();
  });

  test('during the query of the runtime', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main'), failing: ['inspectContainer'] });
    story.stop(30);
    story.ports.advance(1_000);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'main-0-0' }]);
    expect(story.state()).toBe('stopped');
  });

  test('after it has completed', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.begin();
    story.die(0);
    story.stop(30);
    expect(story.state()).toBe('stopped');
    expect(story.context().run).toMatchObject({ exitCode: 0 });
  });
});

describe('a lost sandbox', () => {
  const lose = (story: ReturnType<typeof containerStory>) => {
    story.world.loseSandbox('sandbox-uid-1-0');
    story.send({ type: 'sandbox.lost' });
  };

  test('C8: is stopped, and runs again only in the next sandbox and after its turn', () => {
    const story = containerStory();
    story.begin();
    lose(story);
    expect(story.state()).toBe('launching.readyToCreate');
    expect(story.lifecycles().at(-1)).toBe('readyToCreate');
    story.send({ type: 'sandbox.ready', sandbox: story.world.sandbox(aPod(), 1) });
    expect(story.state()).toBe('launching.readyToCreate');
    story.send({ type: 'container.start' });
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('createContainer').map(({ sandbox, attempt }) => [sandbox.attempt, attempt])).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  test.each(['createContainer', 'startContainer', 'runHook'] as const)(
    'C8: during %s leaves no process, and the container starts over in the next sandbox',
    (port) => {
      const story = containerAt(port, aPod({ containers: [aContainer({ lifecycle: { postStart: exec } })] }));
      lose(story);
      expect(story.state()).toBe('launching.readyToCreate');
      expect(story.lifecycles().at(-1)).toBe('readyToCreate');
      expect(queueOf(story.startLimiter)).toEqual(empty);
      story.begin(1);
      expect(story.ports.pending()).toEqual([port]);
      expect(story.ports.asked('createContainer').at(-1)?.sandbox.attempt).toBe(1);
      story.ports.answer(port);
      expect(story.state()).toBe('running.steady');
    },
  );

  test('C8: during the wait for another start', () => {
    const story = containerStory();
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    lose(story);
    expect(story.lifecycles().at(-1)).toBe('readyToCreate');
    story.begin(1);
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('C3: a completed init container runs again after its turn', () => {
    const pod = aPod({ initContainers: [aContainer({ name: 'setup' })] });
    const story = containerStory({ pod, name: 'setup', role: 'init' });
    story.begin();
    story.die(0);
    expect(story.state()).toBe('ended.succeeded');
    lose(story);
    story.begin(1);
    expect(story.state()).toBe('running.steady');
  });

  test('C4: a sidecar restarts whatever its exit code', () => {
    const pod = aPod({
      restartPolicy: 'Never',
      initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' })],
    });
    const story = containerStory({ pod, name: 'proxy', role: 'sidecar' });
    story.begin();
    story.die(0);
    expect(story.state()).toBe('running.steady');
  });
});

describe('unknown states', () => {
  test('a container in an unknown state is stopped before another is created', () => {
    const story = containerStory();
    story.begin();
    story.world.change('main-0-0', { state: 'unknown' });
    story.ports.hold('stopContainer');
    story.observe();
    expect(story.state()).toBe('stopping.killing.graceful');
    expect(story.ports.asked('createContainer')).toHaveLength(1);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('running.steady');
    expect(story.context().attempt).toBe(1);
  });

  test('the query of a missing container is repeated until the runtime responds', () => {
    const story = containerStory();
    story.begin();
    story.world.containers.clear();
    story.ports.failNext('inspectContainer', 'RuntimeUnavailable');
    story.send({ type: 'runtime.containerObserved', id: 'main-0-0', container: null });
    expect(story.state()).toBe('running.awaitingVerification');
    story.ports.advance(1_000);
    expect(story.context()).toMatchObject({ attempt: 1, earlierRun: { reason: 'ContainerStatusUnknown' } });
  });

  test('C7: after an exit that was not observed the back-off counts from its detection', () => {
    const story = containerStory();
    const vanish = () => {
      const id = story.context().id ?? '';
      story.world.containers.delete(id);
      story.send({ type: 'runtime.containerObserved', id, container: null });
    };
    story.begin();
    vanish();
    expect(story.state()).toBe('running.steady');
    vanish();
    expect(story.state()).toBe('ended.backingOff');
    expect(story.ports.untilNext).toBe(10_000);
  });
});
