import { describe, expect, test } from '@jest/globals';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const web = namedPod('web');

/** A node that runs a pod. */
function runningNode() {
  const story = nodeStory();
  story.list();
  story.want([web]);
  expect(story.pod('web-uid')).toBe('active.running.steady');
  return story;
}

const breaking = (actorId: string) => ({
  type: `xstate.error.actor.${actorId}` as const,
  ...{ error: new Error('a mistake'), actorId },
});

describe('an actor that breaks', () => {
  test('a pod while the node drains is ended once more, with what is left of its grace', () => {
    const story = runningNode();
    story.list(story.world.observed(web));
    story.ports.hold('stopContainer');
    story.drain();
    const [before] = story.ports.asked('stopContainer');
    story.ports.advance(3_000);
    story.podRef('web-uid')?.send(breaking('container/main'));
    expect([story.state(), story.pod('web-uid')]).toEqual(['draining', undefined]);
    story.tick();
    expect(story.pod('web-uid')).toBe('terminating.containers.graceful');
    expect(story.ports.asked('stopContainer').at(-1)?.deadline).toBe(before?.deadline);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
  });

  test.each(['admission', 'startLimiter', 'pullLimiter'])(
    '%s ends the node agent, which says so and touches nothing',
    (part) => {
      const story = runningNode();
      story.send(breaking(part) as never);
      expect([story.state(), story.status()]).toEqual(['broken', 'done']);
      expect(story.context().failure?.message).toBe(`${part} of the node agent failed: a mistake`);
      expect(story.ports.asked('stopContainer')).toEqual([]);
    },
  );
});
