import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';

test('C7: a back-off does not exceed its duration although the clock was set back since the exit', () => {
  const story = containerStory({ pod: aPod() });
  story.begin();
  story.die(1);
  story.world.end('main-0-1', 1);
  story.ports.setClock(-3_600_000);
  story.observe('main-0-1');
  expect([story.state(), story.ports.untilNext]).toEqual(['ended.backingOff', 10_000]);
  // The story dates the start of every state to 0, so `until` is the remaining time.
  expect(story.node().until).toBe(10_000);
});

test.each([0, -3_600_000])(
  'C7: the back-off includes the time for which a failed start is reported, even if the clock is set by %i ms',
  (by) => {
    const story = containerStory({ pod: aPod() });
    for (let run = 0; run < 2; run += 1) story.ports.failNext('startContainer', 'RunContainerError');
    story.begin();
    expect([story.state(), story.node().until]).toEqual(['ended.startFailed', 10_000]);
    story.ports.setClock(by);
    story.ports.advance(3_000);
    // The story dates the start of every state to 0, so `until` is the remaining time.
    expect([story.state(), story.ports.untilNext, story.node().until]).toEqual(['ended.backingOff', 7_000, 7_000]);
    story.ports.failNext('startContainer', 'RunContainerError');
    story.ports.advance(7_000);
    expect([story.state(), story.node().until]).toEqual(['ended.startFailed', 20_000]);
  },
);

test('C7: a back-off shorter than the report of a failed start is over in time', () => {
  const story = containerStory({ pod: aPod(), crashLoop: { baseMs: 1_000, maxMs: 1_000 } });
  for (let run = 0; run < 2; run += 1) story.ports.failNext('startContainer', 'RunContainerError');
  story.begin();
  expect([story.state(), story.ports.untilNext]).toEqual(['ended.startFailed', 1_000]);
  story.ports.setClock(-3_600_000);
  story.ports.advance(1_000);
  expect(story.state()).toBe('running.steady');
});

test('C7: an update during the back-off applies to the next run, without an early end of the back-off', () => {
  const story = containerStory({ pod: aPod() });
  story.begin();
  story.die(1);
  story.world.end('main-0-1', 1);
  story.observe('main-0-1');
  expect(story.state()).toBe('ended.backingOff');
  // Change neither the image nor the resources of the container, because that would reset its back-off.
  const updated = aPod({ containers: [aContainer(), aContainer({ name: 'other', image: 'other:2' })] });
  story.send({ type: 'container.update', pod: updated, volumes: {} });
  expect([story.state(), story.ports.untilNext]).toEqual(['ended.backingOff', 10_000]);
  story.ports.advance(10_000);
  expect(story.state()).toBe('running.steady');
  expect(story.ports.asked('createContainer').at(-1)).toMatchObject({ pod: updated });
});

describe('C3: an init container that has permanently exited', () => {
  test.each([
    [0, 'ended.succeeded'],
    [1, 'ended.failed'],
  ])('with %i runs again in a new sandbox when its turn comes', (exitCode, ended) => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }), role: 'init' });
    story.begin();
    story.die(exitCode);
    expect(story.state()).toBe(ended);
    story.send({ type: 'sandbox.lost' });
    expect(story.state()).toBe(ended);
    story.begin(1);
    expect([story.state(), story.view().restartCount]).toEqual(['running.steady', 1]);
  });

  test('stays exited if it is a regular one', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.begin();
    story.die(1);
    story.send({ type: 'container.start' });
    expect(story.state()).toBe('ended.failed');
  });
});
