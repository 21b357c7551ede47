import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';
import { podStory } from '../support/podStory.ts';

function begun(over: Partial<Container> = {}, hold: readonly PortName[] = [], init = false) {
  const container = aContainer(over);
  const pod = aPod(init ? { initContainers: [container] } : { containers: [container] });
  const story = containerStory({ pod, hold, ...(init ? { role: 'init' } : {}) });
  story.begin();
  return story;
}

test('a container is of the kind of its role, and shows whether it is ready, its restarts and its last run', () => {
  const story = begun();
  expect(story.node()).toMatchObject({ machine: 'container', kind: 'regular', name: 'main', facts: ['ready'] });
  expect(story.node().lastRun).toBeUndefined();
  story.die(3);
  story.ports.advance(10_000);
  expect(story.node()).toMatchObject({ facts: ['ready', '1 restart'], lastRun: { exitCode: 3 } });
  story.die(4);
  expect(story.node()).toMatchObject({ facts: ['1 restart'], lastRun: { exitCode: 4 } });
});

test('beside the end of its last run it shows that of the run before, also where the next one is already due', () => {
  const story = begun({}, ['findImage']);
  const run = (exitCode: number) => {
    story.ports.answer('findImage', { imageRef: 'sha', at: story.ports.now });
    // So long that the next one waits for nothing.
    story.ports.advance(700_000);
    story.die(exitCode);
  };
  run(3);
  expect(story.view()).toMatchObject({ now: { kind: 'terminated', run: { exitCode: 3 } } });
  expect(story.view().last).toBeUndefined();
  run(4);
  expect(story.view()).toMatchObject({ now: { run: { exitCode: 4 } }, last: { exitCode: 3 } });
});

test('an init container is never said to be ready or not', () => {
  expect(begun({}, [], true).node()).toMatchObject({ kind: 'init', state: 'running.steady', facts: [] });
});

test('who has not passed its readiness probe is not ready, and the probe shows how many tries have failed', () => {
  const story = begun({ readinessProbe: { exec: { command: ['ask'] }, failureThreshold: 3 } }, ['runProbe']);
  expect(story.node().facts).toEqual(['not ready']);
  story.ports.advance(story.ports.untilNext ?? 0);
  const { now } = story.ports;
  story.ports.answer('runProbe', { result: 'failure', message: 'no', beganAt: now, at: now });
  expect(story.node().children).toMatchObject([
    { machine: 'probe', kind: 'probe', name: 'readiness', facts: ['1 of 3 failures'], lastFailure: { message: /no/ } },
  ]);
});

test('the wait for a hook says what the hook does', () => {
  const story = begun({ lifecycle: { postStart: { exec: { command: ['/setup', '--all'] } } } }, ['runHook']);
  expect(story.node().waitingFor).toBe('its postStart hook (exec /setup …)');
  expect(begun({ lifecycle: { preStop: { sleep: { seconds: 5 } } } }).node().waitingFor).toBeUndefined();
});

test('the image that it waits for is an actor of its own, which names it', () => {
  const story = begun({ image: 'app:$&', imagePullPolicy: 'Always' }, ['pullImage']);
  expect(story.node()).toMatchObject({ state: 'pending.gettingImage', waitingFor: 'its image' });
  const image = { machine: 'image', kind: 'image', name: 'app:$&', path: 'container/main/image', state: 'pulling' };
  expect(story.node().children).toContainEqual(
    expect.objectContaining({ ...image, waitingFor: 'the pull of image app:$&' }),
  );
});

describe('C5: one that is to run again although its pod runs each container once', () => {
  const once = aPod({ restartPolicy: 'Never' });

  test('as it was updated: is not shown as terminated, which it could not leave at an API server', () => {
    const story = containerStory({ pod: once });
    story.begin();
    story.ports.hold('stopContainer', 'createContainer');
    const pod = aPod({ restartPolicy: 'Never', containers: [aContainer({ image: 'next' })] });
    story.send({ type: 'container.update', pod, volumes: {} });
    story.die(143);
    expect(story.state()).toBe('launching.making.creating');
    expect(story.view()).toMatchObject({ now: { kind: 'waiting' }, last: { exitCode: 143 }, willRestart: true });
  });

  test('as an init container in a new sandbox: is shown as it had ended until it runs', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'OnFailure' }), role: 'init' });
    story.begin();
    story.die(0);
    story.ports.hold('createContainer');
    story.send({ type: 'sandbox.lost' });
    story.begin(1);
    expect(story.state()).toBe('launching.making.creating');
    expect(story.view().now).toMatchObject({ kind: 'terminated', run: { exitCode: 0 } });
  });

  test('but may not: is shown as it has ended', () => {
    const story = containerStory({ pod: once });
    story.begin();
    story.die(0);
    expect(story.view().now).toMatchObject({ kind: 'terminated', run: { exitCode: 0 } });
  });
});

test('the end of the run before is told as soon as it could be read, and nothing that it was not until then', () => {
  const pod = aPod();
  const story = podStory({
    pod,
    before: (world) => {
      world.sandbox(pod);
      world.run(pod, 'main', { id: 'dead', attempt: 0, state: 'exited', createdAt: 1 });
      world.run(pod, 'main', { id: 'alive', attempt: 1, createdAt: 2 });
    },
  });
  const last = () => story.view().containers[0]?.last;
  story.observe();
  expect([story.state(), last()]).toEqual(['active.running.steady', undefined]);
  story.world.change('dead', { exitCode: 3, finishedAt: 2 });
  story.observe();
  expect(last()).toMatchObject({ containerId: 'dead', exitCode: 3, finishedAt: 2 });
});

describe('while one that is to start anew is stopped', () => {
  const next = aPod({ containers: [aContainer({ image: 'next' })] });

  test('and the answer to its start was lost: what is told is of the run before', () => {
    const story = begun({}, ['stopContainer']);
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.die(3);
    expect(story.state()).toBe('launching.awaitingRetry');
    story.send({ type: 'container.update', pod: next, volumes: {} });
    expect(story.state()).toBe('stopping.killing.graceful');
    expect(story.view()).toMatchObject({ now: { kind: 'terminated', run: { exitCode: 3 } }, restartCount: 0 });
  });

  test('and was told to run: it runs, also where the runtime does not know its state any more', () => {
    for (const forgets of [false, true]) {
      const story = begun({}, ['stopContainer']);
      story.die(3);
      if (forgets) story.world.change('main-0-1', { state: 'unknown' });
      if (forgets) story.observe();
      else story.send({ type: 'container.update', pod: next, volumes: {} });
      expect(story.state()).toBe('stopping.killing.graceful');
      expect(story.view()).toMatchObject({ now: { kind: 'running' }, last: { exitCode: 3 }, restartCount: 1 });
    }
  });
});
