/** Tests the waiting reason in the status of a container, from the first failure to the first run. */
import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { type ContainerStory, containerStory } from '../support/containerStory.ts';

const hooks = { exec: { command: ['true'] } };

function startedContainer(over: Partial<Container> = {}, hold: readonly PortName[] = [], spec = {}): ContainerStory {
  const story = containerStory({ pod: aPod({ containers: [aContainer(over)], ...spec }), hold });
  story.begin();
  return story;
}

const now = (story: ContainerStory) => story.view().now;
const reason = (story: ContainerStory) => {
  const state = now(story);
  return state.kind === 'waiting' ? state.reason : state.kind;
};

describe('C16: before the first run', () => {
  test('waits for its creation, or for the initialization of the pod', () => {
    expect(now(startedContainer({}, ['findImage']))).toEqual({ kind: 'waiting', reason: 'ContainerCreating' });
    const withInit = { initContainers: [{ name: 'init', image: 'busybox:1' }] };
    expect(now(startedContainer({}, ['findImage'], withInit))).toEqual({ kind: 'waiting', reason: 'PodInitializing' });
  });

  test('reports a failed pull as ErrImagePull with its error, then as ImagePullBackOff, also during the next pull', () => {
    const story = startedContainer({ imagePullPolicy: 'Always' }, ['pullImage']);
    story.ports.fail('pullImage', 'ErrImagePull', 'no such host');
    expect(now(story)).toEqual({ kind: 'waiting', reason: 'ErrImagePull', message: 'no such host' });
    story.ports.advance(3_000);
    const backOff = {
      kind: 'waiting',
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "busybox:1": ErrImagePull: no such host',
    };
    expect(now(story)).toEqual(backOff);
    story.ports.advance(7_000);
    expect([story.state(), now(story)]).toEqual(['pending.gettingImage.pulling', backOff]);
    story.ports.fail('pullImage', 'RegistryUnavailable', 'try later');
    expect(now(story)).toMatchObject({ reason: 'RegistryUnavailable', message: 'try later' });
    story.ports.advance(20_000);
    expect(now(story)).toMatchObject({ message: expect.stringMatching(/: RegistryUnavailable: try later$/) });
    story.ports.hold('createContainer');
    story.ports.answer('pullImage');
    expect(now(story)).toEqual({ kind: 'waiting', reason: 'ContainerCreating' });
  });

  test('reports an image that must not be pulled as ErrImageNeverPull', () => {
    const story = startedContainer({ imagePullPolicy: 'Never' }, ['findImage']);
    story.ports.answer('findImage', { imageRef: null, at: story.ports.now });
    expect(now(story)).toEqual({
      kind: 'waiting',
      reason: 'ErrImageNeverPull',
      message: 'Container image "busybox:1" is not present with pull policy of Never',
    });
  });

  test('reports a failed image check as ImageInspectError, and an invalid name as InvalidImageName', () => {
    const story = startedContainer({}, ['findImage']);
    story.ports.fail('findImage', 'RuntimeError', 'disk on fire');
    expect(now(story)).toEqual({
      kind: 'waiting',
      reason: 'ImageInspectError',
      message: 'Failed to inspect image "busybox:1": disk on fire',
    });
    story.ports.advance(10_000);
    story.ports.fail('findImage', 'InvalidImageName', 'what is that');
    expect(now(story)).toEqual({ kind: 'waiting', reason: 'InvalidImageName', message: 'what is that' });
  });

  test.each(['CreateContainerConfigError', 'CreateContainerError'] as const)(
    'reports %s until the container runs',
    (word) => {
      const story = startedContainer({}, ['createContainer']);
      story.ports.fail('createContainer', word, 'because');
      expect(now(story)).toEqual({ kind: 'waiting', reason: word, message: 'because' });
      story.ports.advance(10_000);
      expect([story.state(), reason(story)]).toEqual(['launching.creatingContainer.creating', word]);
      story.ports.answer('createContainer');
      expect(reason(story)).toBe('running');
    },
  );

  test('does not report that the runtime is not available', () => {
    const story = startedContainer({ imagePullPolicy: 'Always' }, ['findImage', 'pullImage', 'createContainer']);
    const ports = ['findImage', 'pullImage', 'createContainer'] as const;
    for (const port of ports) {
      story.ports.fail(port, 'RuntimeUnavailable');
      expect(reason(story)).toBe('ContainerCreating');
      story.send({ type: 'runtime.returned' });
      if (port !== 'findImage') story.ports.pending('findImage').forEach(() => void story.ports.answer('findImage'));
      if (story.ports.pending(port).length > 0) story.ports.answer(port);
    }
    expect(reason(story)).toBe('running');
  });
});

test('C16: an exit observed before the start has returned is reported afterwards', () => {
  const story = startedContainer({}, ['startContainer'], { restartPolicy: 'Never' });
  story.die(3);
  expect([story.state(), now(story)]).toEqual([
    'launching.creatingContainer.starting',
    { kind: 'waiting', reason: 'ContainerCreating' },
  ]);
  expect(story.view()).toMatchObject({ restartCount: 0 });
  expect(story.view().lastRun).toBeUndefined();
  story.ports.answer('startContainer');
  expect(now(story)).toMatchObject({ kind: 'terminated', run: { exitCode: 3 } });
});

describe('C16: a start rejected by the runtime', () => {
  test('is RunContainerError with the dead container as last state, and then a crash loop', () => {
    const story = startedContainer({}, ['startContainer']);
    story.ports.fail('startContainer', 'RunContainerError', 'no such file');
    const refused = { kind: 'waiting', reason: 'RunContainerError', message: 'no such file' };
    expect([story.state(), now(story)]).toEqual(['launching.creatingContainer.starting', refused]);
    expect(story.view().lastRun).toMatchObject({ exitCode: 128, reason: 'StartError', message: 'no such file' });
    story.ports.fail('startContainer', 'RunContainerError', 'no such file');
    expect([story.state(), now(story)]).toEqual(['ended.startFailed', refused]);
    story.ports.advance(3_000);
    expect(now(story)).toMatchObject({
      reason: 'CrashLoopBackOff',
      message: 'back-off 10s restarting failed container=main pod=web_default(uid-1)',
    });
    expect(story.view()).toMatchObject({ restartCount: 1, lastRun: { reason: 'StartError' } });
  });

  test('is final under restartPolicy Never', () => {
    const story = startedContainer({}, ['startContainer'], { restartPolicy: 'Never' });
    story.ports.fail('startContainer', 'RunContainerError', 'no such file');
    expect(now(story)).toMatchObject({ kind: 'terminated', run: { exitCode: 128, reason: 'StartError' } });
  });
});

describe('C16: a postStart hook', () => {
  test('leaves the container waiting until the hook has completed', () => {
    const story = startedContainer({ lifecycle: { postStart: hooks } }, ['runHook']);
    expect([story.state(), reason(story)]).toEqual(['launching.runningPostStart', 'ContainerCreating']);
    story.ports.answer('runHook');
    expect(reason(story)).toBe('running');
  });

  test('is PostStartHookError after a failure, while the container is killed and until it starts again', () => {
    const story = startedContainer({ lifecycle: { postStart: hooks } }, ['runHook', 'stopContainer']);
    story.ports.fail('runHook', 'PostStartHookError', 'the hook said no');
    const failed = { kind: 'waiting', reason: 'PostStartHookError', message: 'the hook said no' };
    expect([story.state(), now(story)]).toEqual(['stopping.killing.graceful', failed]);
    story.ports.answer('stopContainer');
    expect([story.state(), now(story)]).toEqual(['launching.runningPostStart', failed]);
    expect(story.view().lastRun).toMatchObject({ exitCode: 137 });
    story.ports.fail('runHook', 'PostStartHookError', 'the hook said no');
    story.ports.answer('stopContainer');
    expect([story.state(), now(story)]).toEqual(['ended.startFailed', failed]);
    story.ports.advance(3_000);
    expect(reason(story)).toBe('CrashLoopBackOff');
  });
});

test('C7: no back-off after a failed start exceeds its duration, however late the exit is observed', () => {
  const story = startedContainer({ lifecycle: { postStart: hooks } }, ['runHook', 'stopContainer']);
  for (let run = 0; run < 2; run += 1) {
    story.ports.fail('runHook', 'PostStartHookError', 'the hook said no');
    story.world.end(story.context().id ?? '', 137);
    story.ports.advance(60_000);
    story.ports.answer('stopContainer', story.world.containers.get(story.context().id ?? '') ?? null);
    story.ports.advance(0);
  }
  expect(story.context().attempt).toBe(2);
  expect(story.state()).toBe('launching.runningPostStart');
});

describe('C16: a crash loop', () => {
  test('is reported until the next run, but not during the first restart', () => {
    const story = startedContainer();
    story.ports.hold('createContainer');
    story.die(1);
    expect(now(story)).toMatchObject({ kind: 'terminated', run: { exitCode: 1, reason: 'Error' } });
    story.ports.hold('startContainer');
    story.ports.answer('createContainer');
    expect(story.view()).toMatchObject({ now: { kind: 'terminated' }, restartCount: 0 });
    story.ports.answer('startContainer');
    expect(story.view()).toMatchObject({ now: { kind: 'running' }, restartCount: 1, lastRun: { exitCode: 1 } });
    story.die(2);
    expect([story.state(), reason(story)]).toEqual(['ended.backingOff', 'CrashLoopBackOff']);
    story.ports.advance(10_000);
    expect([story.state(), reason(story)]).toEqual(['launching.creatingContainer.creating', 'CrashLoopBackOff']);
    expect(story.view()).toMatchObject({ restartCount: 1, lastRun: { exitCode: 2 } });
    story.ports.answer('createContainer');
    expect(story.view()).toMatchObject({
      now: { reason: 'CrashLoopBackOff' },
      restartCount: 1,
      lastRun: { exitCode: 2 },
    });
    story.ports.answer('startContainer');
    expect(story.view()).toMatchObject({ now: { kind: 'running' }, restartCount: 2 });
    expect(reason(story)).toBe('running');
  });

  test('is cleared once the container has run, so that a later exit is reported as such', () => {
    const story = startedContainer();
    story.die(1);
    story.die(1);
    story.ports.advance(10_000);
    story.ports.advance(600_001);
    story.ports.hold('createContainer');
    story.die(3);
    expect([story.state(), now(story)]).toMatchObject([
      'launching.creatingContainer.creating',
      { kind: 'terminated', run: { exitCode: 3 } },
    ]);
  });

  test('is no longer reported once its pod terminates, which reports the last run', () => {
    const story = startedContainer();
    story.die(1);
    story.die(2);
    story.stop(30);
    expect(now(story)).toMatchObject({ kind: 'terminated', run: { exitCode: 2 } });
  });
});
