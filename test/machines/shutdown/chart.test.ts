import { describe, expect, test } from '@jest/globals';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import type { ShutdownTimes } from '../../../machines/shutdown/context.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';
import { START } from '../support/stand.ts';

const SECOND = 1_000;
const CRITICAL = 2_000_000_000;
const PERIODS = [
  { priority: 0, graceSeconds: 20 },
  { priority: CRITICAL, graceSeconds: 10 },
];
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

const web = namedPod('web', { terminationGracePeriodSeconds: 60 });
const quick = namedPod('quick', { terminationGracePeriodSeconds: 5 });
const critical = namedPod('critical', { priority: CRITICAL, terminationGracePeriodSeconds: 60 });

/** Creates a node that observes the shutdown of its host. The test responds to its requests to logind. */
function node({
  pods = [web, quick, critical],
  lastShutdown,
}: {
  pods?: (typeof web)[];
  lastShutdown?: ShutdownTimes;
} = {}) {
  const story = nodeStory({
    shutdown: { periods: PERIODS, lastShutdown },
    held: ['readInhibitDelay', 'raiseInhibitDelay', 'saveShutdown', 'stopContainer', 'removeCgroup'],
  });
  const { ports } = story;
  story.list();
  story.want(pods);
  const ref = () => story.shutdownRef();
  const state = () => statePath(ref()?.getSnapshot().value);
  const send = (event: Parameters<NonNullable<ReturnType<typeof ref>>['send']>[0]) => ref()?.send(event);
  return {
    ...story,
    ports,
    state,
    send,
    shutdown: () => ref()?.getSnapshot().context,
    view: () => story.own('shutdown'),
    /** Lets the node subscribe to the signals of logind and acquire the inhibitor lock. */
    follow: (delaySeconds = 30) => {
      ports.answer('readInhibitDelay', { delayMs: delaySeconds * SECOND });
      send({ type: 'logind.watched', at: ports.now });
      send({ type: 'logind.locked', at: ports.now });
      story.told();
    },
    announce: (isShuttingDown = true) => send({ type: 'logind.shutdownChanged', isShuttingDown, at: ports.now }),
    loseLogind: () =>
      send({
        type: 'feed.ended',
        feed: 'shutdownSignals',
        failure: { reason: 'LogindFailed', message: 'lost', at: ports.now },
        at: ports.now,
      }),
    /** Lets the processes of a pod exit, and removes its cgroup. */
    terminate: () => {
      ports.answer('stopContainer');
      ports.answer('removeCgroup', null);
    },
    termination: (uid: string) => story.podRef(uid)?.getSnapshot().context.termination,
    shutdownEvents: () => story.told().filter((event) => event.startsWith('Normal Shutdown: ')),
  };
}

describe('C49: a node that follows the shutdown of its host', () => {
  test('takes the lock if logind delays a shutdown long enough', () => {
    const story = node();
    expect(story.ports.asked('readInhibitDelay')).toEqual([{ requiredMs: 30 * SECOND, attempt: 0, maxAttempts: 5 }]);
    story.ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    expect(story.state()).toBe('following.subscribing');
    story.send({ type: 'logind.watched', at: START });
    expect(story.state()).toBe('following.locked.locking');
    story.send({ type: 'logind.locked', at: START });
    expect(story.state()).toBe('following.locked.watching');
    expect(story.ports.asked('raiseInhibitDelay')).toEqual([]);
    expect(story.view()?.facts).toEqual([
      '20s for pods from priority 0',
      '10s for pods from priority 2000000000',
      'logind delays a shutdown by up to 30s of 30s',
    ]);
  });

  test('raises a delay that is too short, and waits until logind applies it, with doubling intervals', () => {
    const story = node();
    const { ports } = story;
    ports.answer('readInhibitDelay', { delayMs: 5 * SECOND });
    expect(ports.asked('raiseInhibitDelay')).toEqual([{ delayMs: 30 * SECOND }]);
    ports.answer('raiseInhibitDelay', null);
    for (const [index, intervalMs] of [100, 200, 400, 800].entries()) {
      expect(ports.asked('readInhibitDelay').at(-1)).toMatchObject({ attempt: index + 1 });
      ports.answer('readInhibitDelay', { delayMs: 5 * SECOND });
      expect(story.state()).toBe('awaitingDelay');
      ports.advance(intervalMs - 1);
      expect(story.state()).toBe('awaitingDelay');
      ports.advance(1);
      expect(story.state()).toBe('readingDelay');
    }
    ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    expect(story.state()).toBe('following.subscribing');
  });

  test.each(['readInhibitDelay', 'raiseInhibitDelay'] as const)('runs its pods without a delay if %s fails', (port) => {
    const story = node();
    if (port === 'raiseInhibitDelay') story.ports.answer('readInhibitDelay', { delayMs: 0 });
    story.ports.fail(port, 'LogindFailed');
    expect(story.state()).toBe('disabled');
    expect(story.view()?.lastFailure?.reason).toBe('LogindFailed');
    story.ports.advance(3_600 * SECOND);
    expect(story.state()).toBe('disabled');
    expect(story.pod('web-uid')).toBeDefined();
  });

  test('does not try again if the first lock is refused, but reconnects every second after it has held one', () => {
    const refused = node();
    refused.ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    refused.loseLogind();
    expect(refused.state()).toBe('disabled');
    const lost = node();
    lost.follow();
    lost.loseLogind();
    expect(lost.state()).toBe('reconnecting');
    lost.ports.advance(SECOND);
    expect(lost.state()).toBe('readingDelay');
    lost.follow();
    expect(lost.state()).toBe('following.locked.watching');
    expect(lost.view()?.lastFailure).toBeUndefined();
  });
});

describe('C49: an announced shutdown', () => {
  test('terminates ordinary pods first, within the time of their group', () => {
    const story = node();
    story.follow();
    story.announce();
    expect(story.shutdownEvents()).toEqual(['Normal Shutdown: Shutdown manager detected shutdown event']);
    expect(story.ports.asked('saveShutdown')).toEqual([{ startedAt: START, isComplete: false }]);
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.locked.terminating.stoppingGroup');
    const common = { reason: 'Terminated', message: MESSAGE, disruption: MESSAGE, phase: 'Failed' };
    expect(story.termination('web-uid')).toMatchObject({ ...common, graceSeconds: 20 });
    expect(story.termination('quick-uid')).toMatchObject({ ...common, graceSeconds: 5 });
    expect(story.termination('critical-uid')).toBeUndefined();
    expect(story.view()?.until).toBe(story.ports.now + 20 * SECOND);
  });

  test('terminates the next group as soon as the pods of the first are cleaned up', () => {
    const story = node();
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.ports.answer('stopContainer');
    expect(story.termination('critical-uid')).toBeUndefined();
    story.ports.answer('removeCgroup', null);
    story.terminate();
    expect(story.termination('critical-uid')).toMatchObject({ reason: 'Terminated', graceSeconds: 10 });
    story.terminate();
    expect(story.ports.asked('saveShutdown').at(-1)).toEqual({ startedAt: START, isComplete: true });
    story.ports.answer('saveShutdown', { at: START + SECOND });
    expect(story.state()).toBe('following.released');
    expect(story.shutdown()?.lastShutdown).toEqual({ startedAt: START, endedAt: START + SECOND });
  });

  test('terminates the next group when the time of the first is over', () => {
    const story = node();
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.ports.advance(20 * SECOND - 1);
    expect(story.termination('critical-uid')).toBeUndefined();
    story.ports.advance(1);
    expect(story.termination('critical-uid')).toBeDefined();
    story.ports.advance(10 * SECOND);
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.released');
  });

  test('terminates pods even if its start cannot be saved or the time cannot be read', () => {
    const story = node();
    story.follow();
    story.ports.hold('pickTime');
    story.announce();
    story.ports.fail('saveShutdown', 'StoreFailed');
    story.ports.fail('pickTime', 'InternalError');
    expect(story.termination('web-uid')).toMatchObject({ at: START });
  });

  test('does not wait for pods that are gone when their group starts', () => {
    const story = node({ pods: [] });
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.ports.fail('saveShutdown', 'StoreFailed');
    expect(story.state()).toBe('following.released');
  });

  test('terminates pods even if it arrives before the lock is granted', () => {
    const story = node();
    story.ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    story.send({ type: 'logind.watched', at: START });
    story.told();
    story.announce();
    expect(story.shutdownEvents()).toEqual(['Normal Shutdown: Shutdown manager detected shutdown event']);
    expect(story.context().isShuttingDown).toBe(true);
    story.ports.answer('saveShutdown', { at: START });
    expect(story.termination('web-uid')).toBeDefined();
    story.announce(false);
    story.send({ type: 'logind.locked', at: START });
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.locked.watching');
    story.loseLogind();
    expect(story.state()).toBe('reconnecting');
  });

  test('records no event about the pods', () => {
    const story = node();
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    expect(story.told().filter((event) => event.includes('Terminated'))).toEqual([]);
  });

  test('makes the node not ready, and new pods are rejected', () => {
    const story = node({ pods: [] });
    story.follow();
    expect(story.context().readiness.isReady).toBe(true);
    story.announce();
    expect(story.context().readiness.isReady).toBe(false);
    story.want([web]);
    expect(story.pod('web-uid')).toBe('refused');
    expect(story.podRef('web-uid')?.getSnapshot().context.refusal).toMatchObject({
      reason: 'NodeShutdown',
      message: 'Pod was rejected as the node is shutting down.',
    });
  });
});

describe('C49: a cancelled shutdown', () => {
  test('takes the lock again, and admits pods', () => {
    const story = node({ pods: [] });
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.ports.answer('saveShutdown', { at: START });
    story.told();
    story.announce(false);
    expect(story.state()).toBe('following.locked.locking');
    expect(story.shutdownEvents()).toEqual(['Normal Shutdown: Shutdown manager detected shutdown cancellation']);
    expect(story.context().readiness.isReady).toBe(true);
    story.want([web]);
    expect(story.pod('web-uid')).not.toBe('refused');
  });

  test('spares the groups that have not started to terminate', () => {
    const story = node();
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.announce(false);
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.locked.watching');
    story.ports.advance(60 * SECOND);
    expect(story.termination('critical-uid')).toBeUndefined();
    expect(story.termination('web-uid')).toBeDefined();
  });

  test('terminates no pod if it arrives before the first group', () => {
    const story = node();
    story.follow();
    story.announce();
    story.announce(false);
    while (story.ports.pending('saveShutdown').length > 0) story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.locked.watching');
    for (const uid of ['web-uid', 'quick-uid', 'critical-uid']) expect(story.termination(uid)).toBeUndefined();
  });

  test('does not hide the next announcement, which starts another termination', () => {
    const story = node();
    story.follow();
    story.announce();
    story.ports.answer('saveShutdown', { at: START });
    story.announce(false);
    expect(story.state()).toBe('following.locked.terminating.savingEnd');
    story.told();
    story.announce();
    expect(story.shutdownEvents()).toEqual(['Normal Shutdown: Shutdown manager detected shutdown event']);
    expect(story.state()).toBe('following.locked.terminating.savingStart');
    expect(story.context().isShuttingDown).toBe(true);
    story.ports.answer('saveShutdown', { at: START });
    story.terminate();
    story.terminate();
    expect(story.termination('critical-uid')).toBeDefined();
    story.terminate();
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('following.released');
  });

  test('is recognized by a lock that is granted after logind was lost', () => {
    const story = node({ pods: [] });
    story.follow();
    story.announce();
    story.loseLogind();
    story.ports.answer('saveShutdown', { at: START });
    story.ports.answer('saveShutdown', { at: START });
    expect(story.state()).toBe('reconnecting');
    expect(story.context().isShuttingDown).toBe(true);
    story.ports.advance(SECOND);
    story.told();
    story.ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    story.send({ type: 'logind.watched', at: START });
    story.send({ type: 'logind.locked', at: START });
    expect(story.context().isShuttingDown).toBe(false);
    expect(story.shutdownEvents()).toHaveLength(1);
  });

  test('is recognized by the first lock if the shutdown was announced before it', () => {
    const story = node({ pods: [] });
    const { ports } = story;
    ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
    story.send({ type: 'logind.watched', at: START });
    story.announce();
    story.loseLogind();
    ports.answer('saveShutdown', { at: START });
    ports.answer('saveShutdown', { at: START });
    for (const attempt of [1, 2]) {
      expect(story.state()).toBe('reconnecting');
      ports.advance(SECOND);
      ports.answer('readInhibitDelay', { delayMs: 30 * SECOND });
      story.send({ type: 'logind.watched', at: START });
      if (attempt === 1) story.loseLogind();
    }
    story.send({ type: 'logind.locked', at: START });
    expect(story.state()).toBe('following.locked.watching');
    expect(story.context().isShuttingDown).toBe(false);
  });

  test('is ignored if no shutdown was announced', () => {
    const story = node();
    story.follow();
    story.announce(false);
    expect(story.state()).toBe('following.locked.watching');
    expect(story.shutdownEvents()).toEqual([]);
  });
});
