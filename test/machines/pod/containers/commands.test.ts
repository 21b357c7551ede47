import { describe, expect, test } from '@jest/globals';
import { BATCH_SIZE } from '../../../../machines/pod/containers/commands.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const COUNT = 2 * BATCH_SIZE + 20;
const names = Array.from({ length: COUNT }, (_, index) => `c${index}`);
const large = aPod({ containers: names.map((name) => aContainer({ name })) });

type PodStory = ReturnType<typeof podStory>;

/** Lets the pauses between batches elapse. Returns the initial count and the count after each pause. */
function countsAfterPauses(story: PodStory, count: () => number): number[] {
  const counts = [count()];
  while (story.context().queued !== undefined) {
    story.ports.endNextWait();
    counts.push(count());
  }
  return counts;
}

/** Returns the largest difference between two successive counts. */
const largestStep = (counts: readonly number[]): number =>
  Math.max(...counts.map((count, index) => count - (counts[index - 1] ?? 0)));

/** Creates a large pod with all containers running. */
function runningPod(): PodStory {
  const story = podStory({ pod: large });
  countsAfterPauses(story, () => 0);
  expect(story.ports.asked('startContainer')).toHaveLength(COUNT);
  expect(story.state()).toBe('active.running.steady');
  return story;
}

describe('a pod with many containers', () => {
  test('spawns and starts them in batches, between which the rest of the node has its turn', () => {
    const story = podStory({ pod: large, held: ['findImage'] });
    const spawned = () => Object.keys(story.containers()).length;
    const started = () => story.ports.asked('findImage').length;
    const counts = countsAfterPauses(story, () => spawned() + started());
    expect([spawned(), started()]).toEqual([COUNT, COUNT]);
    expect(largestStep(counts)).toBeLessThanOrEqual(BATCH_SIZE);
    expect(Object.keys(story.containers())).toEqual(names);
  });

  test('stops them in batches, all in parallel', () => {
    const story = runningPod();
    story.ports.hold('stopContainer');
    story.terminate();
    const counts = countsAfterPauses(story, () => story.ports.asked('stopContainer').length);
    expect(counts.at(-1)).toBe(COUNT);
    expect(largestStep(counts)).toBeLessThanOrEqual(BATCH_SIZE);
    for (const _ of names) story.ports.answer('stopContainer');
    story.ports.advance(0);
    expect(story.state()).toBe('terminated');
  });

  test('stops the actors of a removed pod in batches', () => {
    const story = runningPod();
    story.ports.hold('removePodData');
    story.terminate();
    story.ports.advance(0);
    expect(story.state()).toBe('terminating.removingData');
    const left = () => story.tree().children.filter(({ machine }) => machine === 'container').length;
    expect(left()).toBe(COUNT);
    story.ports.answer('removePodData');
    const counts = countsAfterPauses(story, () => COUNT - left());
    expect(counts.at(-1)).toBe(COUNT);
    expect(largestStep(counts)).toBeLessThanOrEqual(BATCH_SIZE);
    expect(story.state()).toBe('terminated');
  });

  test('ignores observations while its actors stop', () => {
    const story = runningPod();
    story.ports.hold('removePodData');
    story.terminate();
    story.ports.advance(0);
    story.ports.answer('removePodData');
    story.observe();
    story.send({ type: 'pod.objectsChanged' });
    story.ports.advance(0);
    expect(story.state()).toBe('terminated');
  });

  test('shows that a pod waits for its turn to send more commands', () => {
    const story = podStory({ pod: large, held: ['findImage'] });
    expect(story.tree().children).toContainEqual(
      expect.objectContaining({
        machine: 'pace',
        waitingFor: 'its turn to send more commands to its containers and volumes',
      }),
    );
    story.ports.advance(0);
    expect(story.tree().children.map(({ machine }) => machine)).not.toContain('pace');
  });

  test('terminates without starting the containers that were not started yet', () => {
    const story = podStory({ pod: large, held: ['runSandbox'] });
    story.terminate();
    story.ports.answer('runSandbox');
    story.ports.advance(0);
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('createContainer')).toEqual([]);
  });

  test('sends each container its latest observation once', () => {
    const story = runningPod();
    story.observe();
    const queued = () => story.context().queued?.flatMap((each) => each.names) ?? [];
    expect(queued()).toEqual(names.slice(BATCH_SIZE));
    // Further observations of the runtime do not make the queue longer.
    for (let count = 0; count < 5; count += 1) story.observe();
    expect(queued()).toHaveLength(COUNT);
    story.ports.advance(0);
    expect(story.context().queued).toBeUndefined();
  });

  test('restarts a container that exits while the others are observed', () => {
    const story = runningPod();
    story.observe();
    story.die(`c${COUNT - 1}-0-0`, 1);
    story.ports.advance(10_000);
    expect(story.ports.asked('createContainer')).toHaveLength(COUNT + 1);
  });

  test('counts as being adopted until the actors of all its containers exist', () => {
    const story = podStory({
      pod: large,
      before: (world, pod) => {
        world.sandbox(pod);
        for (const name of names) world.run(pod, name, { id: name });
      },
    });
    expect(story.context().queued?.[0]?.event.type).toBe('spawn');
    expect(story.view().isUnsettled).toBe(true);
    story.ports.advance(0);
    expect(story.view().isUnsettled ?? false).toBe(false);
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('createContainer')).toEqual([]);
  });

  test('removes a container from its spec that has not been spawned yet', () => {
    const story = podStory({ pod: large, held: ['findImage'] });
    const fewer = { ...large, spec: { ...large.spec, containers: large.spec.containers.slice(0, -1) } };
    story.send({ type: 'pod.update', pod: fewer });
    story.ports.advance(0);
    expect(Object.keys(story.containers())).toEqual(names.slice(0, -1));
  });
});

describe('a pod with many volumes', () => {
  const volumes = names.map((name) => ({ name, emptyDir: {} }));
  const pod = aPod({ containers: [aContainer({ name: 'main' })], volumes });

  test('mounts and unmounts them in batches', () => {
    const story = podStory({ pod, held: ['mountVolume', 'unmountVolume'] });
    const mounts = countsAfterPauses(story, () => story.ports.asked('mountVolume').length);
    expect(mounts.at(-1)).toBe(COUNT);
    expect(largestStep(mounts)).toBeLessThanOrEqual(BATCH_SIZE);
    expect(story.state()).toBe('preparing.mountingVolumes');
    for (const _ of names) story.ports.answer('mountVolume');
    story.ports.advance(0);
    expect(story.state()).toBe('active.running.steady');
    story.terminate();
    const unmounts = countsAfterPauses(story, () => story.ports.asked('unmountVolume').length);
    expect(unmounts.at(-1)).toBe(COUNT);
    expect(largestStep(unmounts)).toBeLessThanOrEqual(BATCH_SIZE);
    for (const _ of names) story.ports.answer('unmountVolume');
    story.ports.advance(0);
    expect(story.state()).toBe('terminated');
  });

  test('terminates while some are not mounted yet', () => {
    const story = podStory({ pod });
    story.terminate();
    story.ports.advance(0);
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('unmountVolume')).toHaveLength(COUNT);
  });
});
