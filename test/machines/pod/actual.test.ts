import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../pod/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const asking = (name: string, cpu: string) => aContainer({ name, resources: { requests: { cpu } } });
const two = (cpu: string) => aPod({ restartPolicy: 'Always', containers: [asking('a', cpu), asking('b', '200m')] });

describe('what admission knows that the runtime has of a pod', () => {
  test('is what the containers claim that are there, as they come and go', () => {
    const story = podStory({ pod: two('100m') });
    expect(story.actual()).toBeNull();
    story.observe();
    story.ports.hold('createContainer');
    expect(story.actual()).toMatchObject({ cpuMillis: 300 });
    story.die('a-0-0', 1);
    expect(story.actual()).toMatchObject({ cpuMillis: 200 });
    story.die('b-0-0', 1);
    expect(story.actual()).toBeNull();
  });

  test('follows an update, and goes with the sandbox', () => {
    const story = podStory({ pod: two('100m') });
    story.observe();
    story.send({ type: 'pod.update', pod: two('500m') });
    expect(story.actual()).toMatchObject({ cpuMillis: 700 });
    story.terminate();
    story.observe();
    expect(story.actual()).toBeNull();
  });

  test('is told of a pod that was there before the agent', () => {
    const story = podStory({
      pod: two('100m'),
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'b', { id: 'b' });
      },
      held: ['createContainer'],
    });
    expect(story.actual()).toMatchObject({ cpuMillis: 200 });
  });
});
