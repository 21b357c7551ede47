import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
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

test('a container shows its role, readiness, restarts and last run', () => {
  const story = begun();
  expect(story.node()).toMatchObject({ machine: 'container', kind: 'regular', name: 'main', facts: ['ready'] });
  expect(story.node().lastRun).toBeUndefined();
  story.die(3);
  story.ports.advance(10_000);
  expect(story.node()).toMatchObject({ facts: ['ready', '1 restart'], lastRun: { exitCode: 3 } });
  story.die(4);
  expect(story.node()).toMatchObject({ facts: ['1 restart'], lastRun: { exitCode: 4 } });
});

test('a container shows the previous run beside the last one, also while the next one is due', () => {
  const story = begun({}, ['findImage']);
  const run = (exitCode: number) => {
    story.ports.answer('findImage', { imageRef: 'sha', at: story.ports.now });
    // The container runs long enough that its next restart has no back-off.
    story.ports.advance(700_000);
    story.die(exitCode);
  };
  run(3);
  expect(story.view()).toMatchObject({ now: { kind: 'terminated', run: { exitCode: 3 } } });
  expect(story.view().lastRun).toBeUndefined();
  run(4);
  expect(story.view()).toMatchObject({ now: { run: { exitCode: 4 } }, lastRun: { exitCode: 3 } });
});

test('an init container shows no readiness', () => {
  expect(begun({}, [], true).node()).toMatchObject({ kind: 'init', state: 'running.steady', facts: [] });
});

test('a container is not ready before its readiness probe has passed, and the probe shows its failures', () => {
  const story = begun({ readinessProbe: { exec: { command: ['ask'] }, failureThreshold: 3 } }, ['runProbe']);
  expect(story.node().facts).toEqual(['not ready']);
  story.ports.advance(story.ports.untilNext ?? 0);
  const { now } = story.ports;
  story.ports.answer('runProbe', { result: 'failure', message: 'no', startedAt: now, at: now });
  expect(story.node().children).toMatchObject([
    { machine: 'probe', kind: 'probe', name: 'readiness', facts: ['1 of 3 failures'], lastFailure: { message: /no/ } },
  ]);
});

test('a container describes the hook that it waits for', () => {
  const story = begun({ lifecycle: { postStart: { exec: { command: ['/setup', '--all'] } } } }, ['runHook']);
  expect(story.node().waitingFor).toBe('its postStart hook (exec /setup …)');
  expect(begun({ lifecycle: { preStop: { sleep: { seconds: 5 } } } }).node().waitingFor).toBeUndefined();
});

test('a container has an actor for the image that it waits for', () => {
  const story = begun({ image: 'app:$&', imagePullPolicy: 'Always' }, ['pullImage']);
  expect(story.node()).toMatchObject({ state: 'pending.gettingImage', waitingFor: 'its image' });
  const image = { machine: 'image', kind: 'image', name: 'app:$&', path: 'container/main/image', state: 'pulling' };
  expect(story.node().children).toContainEqual(
    expect.objectContaining({ ...image, waitingFor: 'the pull of image app:$&' }),
  );
});

describe('C5: a container that runs again although its pod runs each container once', () => {
  const once = aPod({ restartPolicy: 'Never' });

  test('is not shown as terminated after an update, because an API server accepts no other state afterwards', () => {
    const story = containerStory({ pod: once });
    story.begin();
    story.ports.hold('stopContainer', 'createContainer');
    const pod = aPod({ restartPolicy: 'Never', containers: [aContainer({ image: 'next' })] });
    story.send({ type: 'container.update', pod, volumes: {} });
    story.die(143);
    expect(story.state()).toBe('launching.creatingContainer.creating');
    expect(story.view()).toMatchObject({ now: { kind: 'waiting' }, lastRun: { exitCode: 143 }, willRestart: true });
  });

  test('is shown as terminated until it runs, as an init container in a new sandbox', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'OnFailure' }), role: 'init' });
    story.begin();
    story.die(0);
    story.ports.hold('createContainer');
    story.send({ type: 'sandbox.lost' });
    story.begin(1);
    expect(story.state()).toBe('launching.creatingContainer.creating');
    expect(story.view().now).toMatchObject({ kind: 'terminated', run: { exitCode: 0 } });
  });

  test('is shown as terminated if it may not run', () => {
    const story = containerStory({ pod: once });
    story.begin();
    story.die(0);
    expect(story.view().now).toMatchObject({ kind: 'terminated', run: { exitCode: 0 } });
  });
});

test('a container shows the previous run once it can be read', () => {
  const pod = aPod();
  const story = podStory({
    pod,
    before: (world) => {
      world.sandbox(pod);
      world.run(pod, 'main', { id: 'dead', attempt: 0, state: 'exited', createdAt: 1 });
      world.run(pod, 'main', { id: 'alive', attempt: 1, createdAt: 2 });
    },
  });
  const last = () => story.view().containers[0]?.lastRun;
  story.observe();
  expect([story.state(), last()]).toEqual(['active.running.steady', undefined]);
  story.world.change('dead', { exitCode: 3, finishedAt: 2 });
  story.observe();
  expect(last()).toMatchObject({ containerId: 'dead', exitCode: 3, finishedAt: 2 });
});

const reported: ContainerStatus = {
  name: 'main',
  state: { waiting: { reason: 'ContainerCreating' } },
  lastState: {},
  ready: false,
  restartCount: 14,
  image: 'app',
  imageID: '',
};

test('a container shows no lower restart count than an earlier agent reported', () => {
  const pod = { ...aPod(), status: { containerStatuses: [reported] } };
  const story = podStory({
    pod,
    before: (world) => {
      world.sandbox(pod);
      world.run(pod, 'main', { id: 'alive', attempt: 13, createdAt: 1 });
    },
  });
  story.observe();
  const { children } = story.tree();
  expect(children.find(({ id }) => id === 'container/main')?.facts).toContain('14 restarts');
  expect(story.view().containers[0]?.restartCount).toBe(14);
});

describe('a container that is stopped in order to restart', () => {
  const next = aPod({ containers: [aContainer({ image: 'next' })] });

  test('shows the previous run if the response to its start was lost', () => {
    const story = begun({}, ['stopContainer']);
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.die(3);
    expect(story.state()).toBe('launching.awaitingRetry');
    story.send({ type: 'container.update', pod: next, volumes: {} });
    expect(story.state()).toBe('stopping.killing.graceful');
    expect(story.view()).toMatchObject({ now: { kind: 'terminated', run: { exitCode: 3 } }, restartCount: 0 });
  });

  test('is running if it was observed running, even if the runtime no longer knows its state', () => {
    for (const forgets of [false, true]) {
      const story = begun({}, ['stopContainer']);
      story.die(3);
      if (forgets) story.world.change('main-0-1', { state: 'unknown' });
      if (forgets) story.observe();
      else story.send({ type: 'container.update', pod: next, volumes: {} });
      expect(story.state()).toBe('stopping.killing.graceful');
      expect(story.view()).toMatchObject({ now: { kind: 'running' }, lastRun: { exitCode: 3 }, restartCount: 1 });
    }
  });
});
