import { expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../pod/fixtures.ts';
import { podStory } from '../support/podStory.ts';

test('a pod that is refused shows why, and one that is told to end by whom', () => {
  const cpu = { resources: { requests: { cpu: '100' } } };
  const refused = podStory({ pod: aPod({ containers: [aContainer(cpu)] }) });
  expect(refused.tree()).toMatchObject({ kind: 'pod', name: 'web', refused: { reason: 'OutOfcpu' } });
  const story = podStory();
  expect(story.tree().termination).toBeUndefined();
  story.terminate();
  expect(story.tree().termination).toMatchObject({ reason: 'Removed', graceSeconds: 30 });
});

test('a pod that ended by itself was ended by nobody', () => {
  const story = podStory({ pod: aPod({ restartPolicy: 'Never' }) });
  story.die(story.view().containers[0]?.containerId ?? '', 0);
  expect(story.tree()).toMatchObject({ state: 'finished', tags: expect.arrayContaining(['ended']) });
  expect(story.tree().termination).toBeUndefined();
});

test('its deadline is an actor that says what it counts, and until when', () => {
  const story = podStory({ pod: aPod({ activeDeadlineSeconds: 60 }) });
  expect(story.tree().children).toContainEqual(
    expect.objectContaining({
      ...{ machine: 'activeDeadline', kind: 'activeDeadline', state: 'counting', tags: ['waiting'] },
      ...{ waitingFor: 'the activeDeadlineSeconds of its pod to pass', until: story.ports.now + 60_000 },
    }),
  );
});
