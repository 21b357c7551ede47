import { describe, expect, test } from '@jest/globals';
import { aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';

test('C7: a back-off is no longer than it is to be, although the clock was set back since the run ended', () => {
  const story = containerStory({ pod: aPod() });
  story.begin();
  story.die(1);
  story.world.end('main-0-1', 1);
  story.ports.setClock(-3_600_000);
  story.observe('main-0-1');
  expect([story.state(), story.ports.untilNext]).toEqual(['ended.backingOff', 10_000]);
  // Here since when it is in its state is told as 0.
  expect(story.node().until).toBe(10_000);
});

test.each([0, -3_600_000])('C7: the time that a failed start is shown counts, also with the clock set by %i', (by) => {
  const story = containerStory({ pod: aPod() });
  for (let run = 0; run < 2; run += 1) story.ports.failNext('startContainer', 'RunContainerError');
  story.begin();
  expect([story.state(), story.node().until]).toEqual(['ended.startFailed', 10_000]);
  story.ports.setClock(by);
  story.ports.advance(3_000);
  // Here since when it is in its state is told as 0.
  expect([story.state(), story.ports.untilNext, story.node().until]).toEqual(['ended.backingOff', 7_000, 7_000]);
  story.ports.failNext('startContainer', 'RunContainerError');
  story.ports.advance(7_000);
  expect([story.state(), story.node().until]).toEqual(['ended.startFailed', 20_000]);
});

test('C7: a back-off that is shorter than a failed start is shown ends in time', () => {
  const story = containerStory({ pod: aPod(), crashLoop: { baseMs: 1_000, maxMs: 1_000 } });
  for (let run = 0; run < 2; run += 1) story.ports.failNext('startContainer', 'RunContainerError');
  story.begin();
  expect([story.state(), story.ports.untilNext]).toEqual(['ended.startFailed', 1_000]);
  story.ports.setClock(-3_600_000);
  story.ports.advance(1_000);
  expect(story.state()).toBe('running.steady');
});

describe('C3: an init container that has ended for good', () => {
  test.each([
    [0, 'ended.succeeded'],
    [1, 'ended.failed'],
  ])('with %i runs again where its turn comes in a new sandbox', (exitCode, ended) => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }), role: 'init' });
    story.begin();
    story.die(exitCode);
    expect(story.state()).toBe(ended);
    story.send({ type: 'sandbox.lost' });
    expect(story.state()).toBe(ended);
    story.begin(1);
    expect([story.state(), story.view().restartCount]).toEqual(['running.steady', 1]);
  });

  test('a regular one stays as it is', () => {
    const story = containerStory({ pod: aPod({ restartPolicy: 'Never' }) });
    story.begin();
    story.die(1);
    story.send({ type: 'container.start' });
    expect(story.state()).toBe('ended.failed');
  });
});
