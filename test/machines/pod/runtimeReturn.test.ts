/**
 * Tests what happens to a starting or terminating pod when the runtime returns. Only calls that failed because the
 * runtime was unavailable are retried immediately.
 */
import { expect, test } from '@jest/globals';
import type { PortName } from '../../../machines/shared/ports.ts';
import { podStory } from '../support/podStory.ts';

const waits: readonly (readonly [PortName, string])[] = [
  ['stopSandboxes', 'terminating.awaitingStopRetry'],
  ['removeSandboxes', 'terminating.awaitingRemoveRetry'],
  ['removeCgroup', 'terminating.awaitingCgroupRetry'],
];

test.each(waits)(
  '%s is retried when the runtime returns if it failed because the runtime was not available',
  (port, state) => {
    const story = podStory();
    story.ports.failNext(port, 'RuntimeUnavailable');
    story.terminate();
    expect(story.state()).toBe(state);
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('terminated');
  },
);

test.each(waits)('%s is retried after its interval if the runtime rejected the call', (port, state) => {
  const story = podStory();
  story.ports.failNext(port, 'FailedKillPod');
  story.terminate();
  expect(story.state()).toBe(state);
  story.send({ type: 'runtime.returned' });
  expect(story.state()).toBe(state);
  story.ports.advance(60_000);
  expect(story.state()).toBe('terminated');
  expect(story.ports.asked(port)).toHaveLength(2);
});

test.each([
  ['RuntimeUnavailable', 'preparing.creatingDirectory'],
  ['FailedCreatePodContainer', 'preparing.awaitingRetry'],
] as const)('when the runtime returns, a pod whose directory failed with %s is in %s', (reason, state) => {
  const story = podStory({ held: ['preparePod'] });
  story.ports.fail('preparePod', reason);
  expect(story.state()).toBe('preparing.awaitingRetry');
  story.send({ type: 'runtime.returned' });
  expect(story.state()).toBe(state);
});
