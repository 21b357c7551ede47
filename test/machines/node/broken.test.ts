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

  test.each(['cgroups', 'logRotation', 'garbage'])('%s ends alone: the node goes on without it', (part) => {
    const story = runningNode();
    story.send(breaking(part) as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['running', 'active.running.steady']);
  });

  test('a pod whose actor threw is given up, and rebuilt with the next tick', () => {
    const story = runningNode();
    story.send(breaking('pod/web-uid') as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['running', undefined]);
    story.list(story.world.observed(web));
    story.tick();
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('a pod whose actor threw while the node drains is ended once more', () => {
    const story = runningNode();
    story.list(story.world.observed(web));
    story.ports.hold('stopContainer');
    story.drain();
    story.send(breaking('pod/web-uid') as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['draining', undefined]);
    story.tick();
    expect(story.pod('web-uid')).toBe('terminating.containers.graceful');
  });

  test('a pod that breaks while a source cannot be read is rebuilt as well', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.tell({ type: 'config.sourceUnread', source: 'http', problems: [] });
    story.want([web]);
    expect([story.state(), story.pod('web-uid')]).toEqual(['partial', 'active.running.steady']);
    story.send({ type: 'xstate.done.actor.pod/web-uid', actorId: 'pod/web-uid', output: { isGone: false } });
    expect(story.pod('web-uid')).toBeUndefined();
    story.list(story.world.observed(web));
    story.tick();
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('a limiter that breaks while the node drains ends the node agent', () => {
    const story = runningNode();
    story.ports.hold('stopContainer');
    story.drain();
    story.send(breaking('startLimiter') as never);
    expect([story.state(), story.status()]).toEqual(['broken', 'done']);
  });

  test.each([
    ['pleg', 'broken'],
    ['ticker', 'broken'],
    ['addresses', 'running'],
  ] as const)('that the feed %s has ended leaves the node %s', (feed, expected) => {
    const story = runningNode();
    story.send({ type: 'feed.ended', feed, failure: { reason: 'Unknown', message: 'a mistake', at: 0 } } as never);
    expect(story.state()).toBe(expected);
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
