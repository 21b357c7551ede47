import { expect, test } from '@jest/globals';
import { preemptionOf } from '../../../machines/node/pods/endings.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

test('a pod shows why it was rejected, and why it terminates', () => {
  const cpu = { resources: { requests: { cpu: '100' } } };
  const refused = podStory({ pod: aPod({ containers: [aContainer(cpu)] }) });
  expect(refused.tree()).toMatchObject({ kind: 'pod', name: 'web', refused: { reason: 'OutOfcpu' } });
  const story = podStory();
  expect(story.tree().termination).toBeUndefined();
  story.terminate();
  expect(story.tree().termination).toMatchObject({ reason: 'Removed', graceSeconds: 30 });
});

test('a completed pod shows no cause', () => {
  const story = podStory({ pod: aPod({ restartPolicy: 'Never' }) });
  story.die(story.view().containers[0]?.containerId ?? '', 0);
  expect(story.tree()).toMatchObject({ state: 'finished', tags: expect.arrayContaining(['ended']) });
  expect(story.tree().termination).toBeUndefined();
});

test('C2: a terminated pod shows no earlier run if the runtime has lost the last one', () => {
  const status = { name: 'main', restartCount: 1, ready: false, image: '', imageID: '' };
  const factsAfter = (attempt: number) => {
    const before: Parameters<typeof podStory>[0] = {
      restored: { phase: 'Succeeded', containerStatuses: [status] },
      termination: { reason: 'Completed', graceSeconds: 30, at: 0 },
      before: (world, pod) => {
        const sandbox = world.sandbox(pod);
        world.run(pod, 'main', { id: 'main', attempt });
        world.end('main', 3);
        world.sandboxes.set(sandbox.id, { ...sandbox, state: 'notReady' });
      },
    };
    const [main] = podStory(before)
      .tree()
      .children.filter(({ kind }) => kind === 'regular');
    return [main?.state, main?.facts, main?.lastRun?.exitCode];
  };
  expect(factsAfter(0)).toEqual(['stopped', [], undefined]);
  expect(factsAfter(1)).toEqual(['stopped', ['1 restart'], 3]);
});

test('C2: a terminated pod shows no container that was created meanwhile and never ran', () => {
  const status = { name: 'main', restartCount: 0, ready: false, image: '', imageID: '' };
  const story = podStory({
    restored: { phase: 'Failed', reason: 'DeadlineExceeded', containerStatuses: [status] },
    termination: { reason: 'Completed', graceSeconds: 30, at: 0 },
    before: (world, pod) => {
      const sandbox = world.sandbox(pod);
      world.run(pod, 'main', { id: 'main', attempt: 0 });
      world.end('main', 3);
      world.run(pod, 'main', { id: 'next', attempt: 1, state: 'created' });
      world.sandboxes.set(sandbox.id, { ...sandbox, state: 'notReady' });
    },
  });
  const main = story.tree().children.find(({ kind }) => kind === 'regular');
  expect([main?.state, main?.facts, main?.lastRun?.exitCode]).toEqual(['stopped', [], 3]);
});

test('a pod shows its deadline as an actor with its kind and time', () => {
  const story = podStory({ pod: aPod({ activeDeadlineSeconds: 60 }) });
  expect(story.tree().children).toContainEqual(
    expect.objectContaining({
      machine: 'activeDeadline',
      kind: 'activeDeadline',
      state: 'countingDown',
      tags: ['waiting', 'byWallClock'],
      waitingFor: 'the activeDeadlineSeconds of its pod to pass',
      until: story.ports.now + 60_000,
    }),
  );
  const preempted = podStory({ held: ['stopContainer'] });
  const termination = preemptionOf(preempted.context().allocated, preempted.ports.now);
  preempted.send({ type: 'pod.terminate', termination });
  expect(preempted.tree().children).toContainEqual(
    expect.objectContaining({
      machine: 'activeDeadline',
      state: 'limitingTermination',
      waitingFor: 'its pod to terminate',
    }),
  );
});
