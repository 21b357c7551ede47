import { expect, test } from '@jest/globals';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const web = namedPod('web');

test('C23: the logs of running containers are checked every 10 s', () => {
  const story = nodeStory({ held: ['rotateLogs'] });
  story.list();
  story.want([web]);
  const dead = story.world.run(web, 'main', { id: 'dead', state: 'exited' });
  story.list({ ...story.world.observed(web), containers: [...story.world.observed(web).containers, dead] });
  const foreign = namedPod('foreign');
  story.world.run(foreign, 'main', { id: 'theirs' });
  story.list(story.world.observed(foreign));
  story.ports.advance(9_999);
  expect(story.ports.asked('rotateLogs')).toEqual([]);
  story.ports.advance(1);
  const pod = { uid: 'web-uid', namespace: 'default', name: 'web' };
  expect(story.ports.asked('rotateLogs')).toEqual([
    { logs: [{ pod, container: 'main', id: 'web/main-0-0', attempt: 0 }] },
  ]);
  // Rotations do not overlap, and continue after a failure.
  story.ports.advance(30_000);
  expect(story.ports.asked('rotateLogs')).toHaveLength(1);
  story.ports.fail('rotateLogs', 'RuntimeUnavailable');
  expect(story.own('logRotation')).toMatchObject({
    name: 'logRotation',
    state: 'waiting',
    until: 10_000,
    lastFailure: { reason: 'RuntimeUnavailable' },
  });
  story.ports.advance(10_000);
  expect(story.ports.asked('rotateLogs')).toHaveLength(2);
});

test('no call is made without running containers', () => {
  const story = nodeStory();
  story.list();
  story.want([]);
  story.ports.advance(60_000);
  expect(story.ports.asked('rotateLogs')).toEqual([]);
});
