import { describe, expect, test } from '@jest/globals';
import { aPod } from '../../../pod/fixtures.ts';
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
