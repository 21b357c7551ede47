import { expect, test } from '@jest/globals';
import { aContainer } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

test('C24: a pod waits for the host port of an unwanted pod without persisted data until that has stopped', () => {
  const web = namedPod('web');
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const http = namedPod('http', { containers: [aContainer({ ports })] });
  const story = nodeStory({
    held: ['stopContainer'],
    before: (world) => {
      world.sandbox(web);
      world.run(web, 'main', { id: 'old', ports });
    },
  });
  story.list(story.world.observed(web));
  story.want([http]);
  expect(story.pod('http-uid')).toBe('admitting');
  story.ports.answer('stopContainer');
  expect(story.pod('http-uid')).not.toBe('admitting');
});

test('C49: a static pod that runs again after a shutdown holds its host port until it has stopped', () => {
  const web = namedPod('web');
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const http = namedPod('http', { containers: [aContainer({ ports })] });
  const story = nodeStory({
    held: ['stopContainer'],
    // The shutdown terminated an earlier run of the pod.
    statuses: { 'web-uid': { phase: 'Failed', reason: 'Terminated' } },
    before: (world) => {
      world.sandbox(web);
      world.run(web, 'main', { id: 'new', ports });
    },
  });
  story.list(story.world.observed(web));
  story.want([http]);
  expect(story.pod('http-uid')).toBe('admitting');
  story.ports.answer('stopContainer');
  expect(story.pod('http-uid')).not.toBe('admitting');
});
