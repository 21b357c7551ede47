import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';
import { queueOf } from '../support/stand.ts';

const hooks = { exec: { command: ['true'] } };
const empty = { held: [], queue: [] };

/** Creates a running container. */
function runningContainer(...options: Parameters<typeof containerStory>) {
  const story = containerStory(...options);
  story.begin();
  expect(story.state()).toBe('running.steady');
  return story;
}

describe('start', () => {
  test('waits for its turn, then for a sandbox, and reports its lifecycle to its pod', () => {
    const story = containerStory();
    expect(story.state()).toBe('pending.waiting');
    story.send({ type: 'container.start' });
    expect(story.state()).toBe('launching.readyToCreate');
    story.send({ type: 'sandbox.ready', sandbox: story.world.sandbox(aPod()) });
    expect(story.state()).toBe('running.steady');
    expect(story.lifecycles()).toEqual(['pending', 'coming', 'readyToCreate', 'launching', 'running']);
    expect(story.ports.asked('createContainer')).toMatchObject([{ container: 'main', attempt: 0 }]);
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('is created only while it holds a start slot', () => {
    const story = containerStory();
    story.startLimiter.send({
      type: 'slot.request',
      purpose: 'a start',
      key: 'other',
      arrivalOrder: 0,
      holder: ['other'],
    });
    story.begin();
    expect(story.state()).toBe('launching.creatingContainer.queued');
    expect(story.ports.asked('createContainer')).toEqual([]);
    story.startLimiter.send({ type: 'slot.release', key: 'other' });
    expect(story.state()).toBe('running.steady');
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('C17: pulls a present image again only under the policy Always', () => {
    const policy = (imagePullPolicy: 'Always' | 'IfNotPresent') =>
      aPod({ containers: [aContainer({ imagePullPolicy })] });
    expect(runningContainer({ pod: policy('IfNotPresent') }).ports.asked('pullImage')).toEqual([]);
    expect(runningContainer({ pod: policy('Always') }).ports.asked('pullImage')).toHaveLength(1);
  });

  test('C17: checks an absent image that must not be pulled again, because it may be loaded by hand', () => {
    const story = containerStory({ pod: aPod({ containers: [aContainer({ imagePullPolicy: 'Never' })] }) });
    story.ports.hold('findImage');
    story.begin();
    story.ports.answer('findImage', { imageRef: null, at: story.ports.now });
    expect(story.state()).toBe('pending.gettingImage.missing');
    story.ports.advance(10_000);
    story.ports.answer('findImage');
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('pullImage')).toEqual([]);
  });

  test('waits 10 s after a failed pull, doubling to 300 s, and releases its slot meanwhile', () => {
    const story = containerStory({ pod: aPod({ containers: [aContainer({ imagePullPolicy: 'Always' })] }) });
    story.ports.hold('pullImage');
    story.begin();
    const waits = [10, 20, 40, 80, 160, 300, 300].map((seconds) => {
      expect(queueOf(story.pullLimiter).held).toHaveLength(1);
      story.ports.fail('pullImage', 'ErrImagePull');
      expect(story.state()).toBe('pending.gettingImage.failed');
      expect(queueOf(story.pullLimiter)).toEqual(empty);
      story.ports.advance(3_000);
      expect(story.state()).toBe('pending.gettingImage.backingOff');
      const wait = story.ports.untilNext ?? 0;
      story.ports.advance(seconds * 1_000 - 3_000);
      return wait + 3_000;
    });
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    story.ports.answer('pullImage');
    expect(story.state()).toBe('running.steady');
    expect(queueOf(story.pullLimiter)).toEqual(empty);
  });

  test('retries a rejected creation after 10 s, and one that failed because the runtime was not available on its return', () => {
    const story = containerStory();
    story.ports.failNext('createContainer', 'CreateContainerError');
    story.begin();
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(queueOf(story.startLimiter)).toEqual(empty);
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('launching.awaitingRetry');
    story.ports.failNext('createContainer', 'RuntimeUnavailable');
    story.ports.advance(10_000);
    expect(story.state()).toBe('launching.awaitingRetry');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('running.steady');
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('C17: checks and pulls an image again that is missing at the creation of the container', () => {
    const story = containerStory();
    story.ports.failNext('createContainer', 'NotFound');
    story.begin();
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.view().now).toMatchObject({ kind: 'waiting', reason: 'CreateContainerError' });
    story.ports.hold('findImage');
    story.ports.advance(10_000);
    expect(story.state()).toBe('pending.gettingImage.checking');
    expect(story.view().now).toMatchObject({ kind: 'waiting', reason: 'CreateContainerError' });
    story.ports.answer('findImage', { imageRef: null, at: story.ports.now });
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('pullImage')).toHaveLength(1);
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('C5: creates a container again that is missing when it should start, although it runs only once', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.ports.failNext('startContainer', 'NotFound');
    story.begin();
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.view()).toMatchObject({ now: { kind: 'waiting', reason: 'RunContainerError' }, restartCount: 0 });
    expect(story.context()).toMatchObject({ id: undefined, attempt: 0 });
    expect(story.context().run).toBeUndefined();
    expect(queueOf(story.startLimiter)).toEqual(empty);
    story.ports.advance(10_000);
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 0, waitingReason: undefined });
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('C5: starts a container again that is still created after a failed start, although it runs only once', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.ports.failNext('startContainer', 'RuntimeError');
    story.begin();
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.view()).toMatchObject({ now: { kind: 'waiting', reason: 'RunContainerError' }, restartCount: 0 });
    expect(story.context().run).toBeUndefined();
    expect(queueOf(story.startLimiter)).toEqual(empty);
    story.ports.advance(10_000);
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 0, waitingReason: undefined });
    expect(story.ports.asked('createContainer')).toHaveLength(1);
  });

  test('C7: backs off after a rejected start as after a crash', () => {
    const story = containerStory();
    story.ports.failNext('startContainer', 'RunContainerError');
    story.ports.failNext('startContainer', 'RunContainerError');
    story.begin();
    expect(story.state()).toBe('ended.startFailed');
    story.ports.advance(3_000);
    expect(story.state()).toBe('ended.backingOff');
    expect(story.ports.untilNext).toBe(7_000);
    expect(story.context().run ?? story.context().earlierRun).toMatchObject({ exitCode: 128, reason: 'StartError' });
    expect(queueOf(story.startLimiter)).toEqual(empty);
    story.ports.advance(7_000);
    expect(story.state()).toBe('running.steady');
    expect(story.context().attempt).toBe(2);
  });

  test.each([0, 3_000])(
    'C7: discards a failed start if the sandbox is lost %d ms later, and starts in the next sandbox',
    (ms) => {
      const story = containerStory();
      story.begin();
      story.ports.failNext('startContainer', 'RunContainerError');
      story.die(1);
      expect(story.context()).toMatchObject({ attempt: 1, run: { reason: 'StartError' } });
      story.ports.advance(ms);
      story.send({ type: 'sandbox.lost' });
      expect(story.state()).toBe('launching.readyToCreate');
      const ran = { run: undefined, waitingReason: undefined, failure: undefined };
      expect(story.context()).toMatchObject({ attempt: 1, id: undefined, ...ran });
      // The status still reports the failed start and, as last state, the run before it.
      const now = { kind: 'terminated', run: { reason: 'StartError' } };
      expect(story.view()).toMatchObject({ restartCount: 1, now, lastRun: { exitCode: 1 } });
      story.begin(1);
      expect(story.state()).toBe('running.steady');
      expect(story.context()).toMatchObject({ attempt: 1, id: 'main-1-1' });
    },
  );

  test('C7: continues the crash-loop back-off in the next sandbox', () => {
    const story = containerStory();
    story.begin();
    story.die(1);
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    story.send({ type: 'sandbox.lost' });
    expect(story.state()).toBe('ended.backingOff');
  });

  test('C3: retains its attempt if its exit is observed before the start call returns and its sandbox is lost', () => {
    const story = containerStory();
    story.begin();
    story.ports.hold('startContainer');
    story.die(1);
    // The failure of this start call does not concern the container that runs later.
    story.ports.fail('startContainer', 'RuntimeUnavailable');
    story.ports.advance(1_000);
    story.die(1);
    expect(story.state()).toBe('launching.creatingContainer.starting');
    story.send({ type: 'sandbox.lost' });
    expect(story.context()).toMatchObject({ attempt: 1, id: 'main-0-1', run: { exitCode: 1 }, failure: undefined });
    expect([story.state(), story.view().restartCount]).toEqual(['ended.backingOff', 1]);
  });

  test('requests a start again whose response was lost because the runtime was not available', () => {
    const story = containerStory();
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    expect(story.state()).toBe('launching.awaitingRetry');
    story.ports.advance(1_000);
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('createContainer')).toHaveLength(1);
    expect(story.ports.asked('startContainer').map(({ id }) => id)).toEqual(['main-0-0', 'main-0-0']);
  });

  test('stops a container whose state is unknown when it should start before creating another', () => {
    const story = containerStory();
    for (const port of ['startContainer', 'stopContainer'] as const) story.ports.hold(port);
    story.begin();
    story.ports.answer('startContainer', story.world.change('main-0-0', { state: 'unknown' }));
    expect(story.state()).toBe('stopping.killing.graceful');
    expect(story.view()).toMatchObject({ now: { kind: 'waiting' }, isAwaitingRun: true, isStateUnknown: true });
    expect(story.ports.asked('createContainer')).toHaveLength(1);
    story.ports.answer('stopContainer');
    story.ports.answer('startContainer');
    expect(story.state()).toBe('running.steady');
    expect(story.context().attempt).toBe(1);
  });

  test('stops a possibly running container on a stop while it is queued again after a lost response', () => {
    const story = containerStory();
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    story.startLimiter.send({
      type: 'slot.request',
      purpose: 'a start',
      key: 'other',
      arrivalOrder: 0,
      holder: ['other'],
    });
    story.ports.advance(1_000);
    expect(story.state()).toBe('launching.creatingContainer.queued');
    story.send({ type: 'container.stop', deadline: 30_000 });
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    expect(story.state()).toBe('stopped');
  });

  test('treats an exit during the start like any other', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.ports.hold('startContainer');
    story.begin();
    story.ports.answer('startContainer', story.world.end('main-0-0', 3));
    expect(story.state()).toBe('ended.failed');
    expect(story.context().run).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('treats a container whose exit was observed before the start call returned as exited, although the response shows it running', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.ports.hold('startContainer');
    story.begin();
    const started = story.world.change('main-0-0', { state: 'running' });
    story.die(3);
    expect(story.state()).toBe('launching.creatingContainer.starting');
    story.ports.answer('startContainer', started);
    expect(story.state()).toBe('ended.failed');
    expect(story.context().run).toMatchObject({ exitCode: 3, reason: 'Error' });
  });

  test('treats a container that is adopted after a restart of the agent just as it exits as exited as well', () => {
    const pod = aPod({ restartPolicy: 'Never' });
    const story = containerStory({ pod, hold: ['inspectContainer'], before: (world) => world.run(pod, 'main') });
    const met = story.world.change('main-0-0', {});
    story.die(3);
    story.ports.answer('inspectContainer', met);
    story.begin();
    expect(story.state()).toBe('ended.failed');
    expect(story.context().run).toMatchObject({ exitCode: 3 });
  });
});

describe('postStart', () => {
  const pod = aPod({ containers: [aContainer({ lifecycle: { postStart: hooks } })] });

  test('counts as running only after the hook has completed', () => {
    const story = containerStory({ pod });
    story.ports.hold('runHook');
    story.begin();
    expect(story.state()).toBe('launching.runningPostStart');
    expect(story.lifecycles()).toEqual(['pending', 'coming', 'readyToCreate', 'launching']);
    story.ports.answer('runHook');
    expect(story.state()).toBe('running.steady');
  });

  test('C10: is killed after a failed hook, and then restarts by its policy', () => {
    const story = containerStory({ pod });
    story.ports.failNext('runHook', 'PostStartHookError');
    story.begin();
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 1, earlierRun: { exitCode: 137 } });
  });

  test('exits during the hook, whose result comes too late', () => {
    const story = containerStory({ pod: aPod({ ...pod.spec, restartPolicy: 'Never' }) });
    story.ports.hold('runHook');
    story.begin();
    story.die(0);
    expect(story.state()).toBe('ended.succeeded');
    expect(story.ports.pending()).toEqual([]);
  });
});

describe('exits and restarts', () => {
  test('C5: the restart policy and the exit code decide', () => {
    const stateAfter = (restartPolicy: 'Always' | 'OnFailure' | 'Never', exitCode: number) => {
      const story = runningContainer({ pod: aPod({ restartPolicy }) });
      story.die(exitCode);
      return story.state();
    };
    expect(stateAfter('Always', 0)).toBe('running.steady');
    expect(stateAfter('OnFailure', 0)).toBe('ended.succeeded');
    expect(stateAfter('OnFailure', 1)).toBe('running.steady');
    expect(stateAfter('Never', 0)).toBe('ended.succeeded');
    expect(stateAfter('Never', 1)).toBe('ended.failed');
  });

  test('C7: restarts at once the first time, then after 10 s doubling to the maximum', () => {
    const story = runningContainer({ crashLoop: { baseMs: 10_000, maxMs: 60_000 } });
    const waits = [0, 10, 20, 40, 60, 60].map((seconds) => {
      story.die(1);
      const wait = story.state() === 'ended.backingOff' ? (story.ports.untilNext ?? 0) : 0;
      story.ports.advance(seconds * 1_000);
      expect(story.state()).toBe('running.steady');
      return wait;
    });
    expect(waits).toEqual([0, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(story.context().attempt).toBe(6);
  });

  test('C7: waits from the end of the run, even if the exit is observed late', () => {
    const story = runningContainer();
    story.die(1);
    story.world.end('main-0-1', 1);
    story.ports.advance(4_000);
    story.observe('main-0-1');
    expect(story.state()).toBe('ended.backingOff');
    expect(story.ports.untilNext).toBe(6_000);
  });

  test('C7: restarts at once again after a run of more than 600 s', () => {
    const story = runningContainer();
    for (const seconds of [0, 10, 20]) {
      story.die(1);
      story.ports.advance(seconds * 1_000);
    }
    story.ports.advance(600_001);
    story.die(1);
    expect(story.state()).toBe('running.steady');
    story.die(1);
    expect(story.ports.untilNext).toBe(10_000);
  });

  test('counts an exit that is reported twice once', () => {
    const story = runningContainer();
    story.die(1);
    expect(story.context().attempt).toBe(1);
    story.observe('main-0-0');
    story.observe('main-0-0');
    expect(story.state()).toBe('running.steady');
    expect(story.context().attempt).toBe(1);
  });

  test('queries a container that is missing from a list before it counts as lost', () => {
    const story = runningContainer();
    story.ports.hold('inspectContainer');
    const absent = { type: 'runtime.containerObserved', id: 'main-0-0', container: null } as const;
    story.send(absent);
    expect(story.state()).toBe('running.verifying');
    story.ports.answer('inspectContainer');
    expect(story.state()).toBe('running.steady');
    story.send(absent);
    story.ports.answer('inspectContainer', null);
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({
      attempt: 1,
      earlierRun: { exitCode: 137, reason: 'ContainerStatusUnknown' },
    });
  });

  test('records the exit that the query of a missing container shows', () => {
    const story = runningContainer({ pod: aPod({ restartPolicy: 'Never' }) });
    story.world.end('main-0-0', 7);
    story.send({ type: 'runtime.containerObserved', id: 'main-0-0', container: null });
    expect(story.context().run).toMatchObject({ exitCode: 7 });
  });
});
