import { describe, expect, test } from '@jest/globals';
import { warning } from '../../../kubernetes/events/recordedEvent.ts';
import { defaultImageGarbagePolicy, type ImageCollection } from '../../../kubernetes/images/imageGarbage.ts';
import { imageGarbageMachine } from '../../../machines/imageGarbage/chart.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';
import { atomicStates, isPassing, stepsOf } from '../support/reach.ts';

const FIVE_MINUTES = 300_000;
const web = namedPod('web');
const result = (more: Partial<ImageCollection> = {}): ImageCollection => ({
  imageCount: 3,
  unusedCount: 1,
  removed: [],
  disk: { capacityBytes: 1e9, availableBytes: 6e8 },
  ...more,
});
const failed = (message: string, more: Partial<ImageCollection> = {}) =>
  result({ failure: { reason: 'RuntimeError', message, at: 0 }, ...more });

/** Creates a node for which the test completes the image collections. */
function node(policy = defaultImageGarbagePolicy) {
  const story = nodeStory({ held: ['collectImages'], imageGarbage: policy });
  story.list();
  story.want([web]);
  story.told();
  const { ports } = story;
  return {
    ...story,
    collected: (collection: ImageCollection) => ports.answer('collectImages', collection),
    refused: (message: string) => ports.fail('collectImages', 'RuntimeUnavailable', message),
    calls: () => ports.asked('collectImages'),
    actor: () => story.own('imageGarbage'),
    told: () => story.told().filter((event) => event.includes('GC') || event.includes('Disk')),
  };
}

describe('the collection of images', () => {
  test('C47: starts with the node, and is repeated every five minutes', () => {
    const { collected, calls, actor, ports } = node();
    expect(actor()).toMatchObject({ state: 'collecting.removing', waitingFor: 'unused images to be removed' });
    collected(result());
    expect(actor()).toMatchObject({ state: 'collecting.waiting', until: FIVE_MINUTES });
    ports.advance(FIVE_MINUTES - 1);
    expect(calls()).toHaveLength(1);
    ports.advance(1);
    expect(calls()).toHaveLength(2);
  });

  test('C47: names the pods that may still create containers, but not those that have terminated', () => {
    const { collected, calls, ports, world, pod } = node();
    collected(result());
    ports.advance(FIVE_MINUTES);
    expect(calls().at(-1)).toEqual({ activePodUids: ['web-uid'] });
    collected(result());
    expect(pod('web-uid')).toBe('active.running.steady');
    expect(world.containers.size).toBe(1);
  });

  test('C47: runs whether or not the sources have listed their pods, because the disk may fill up meanwhile', () => {
    const story = nodeStory({ held: ['collectImages'], sources: ['file', 'api'] });
    story.list();
    expect(story.state()).toBe('awaitingSources');
    expect(story.ports.asked('collectImages')).toEqual([{ activePodUids: [] }]);
  });

  test('C47: reports failures from the second in a row, until one succeeds', () => {
    const { collected, refused, actor, told, ports } = node();
    refused('the runtime is away');
    expect([actor()?.state, actor()?.lastFailure?.message, told()]).toEqual([
      'failing.waiting',
      'the runtime is away',
      [],
    ]);
    ports.advance(FIVE_MINUTES);
    collected(failed('the disk is busy'));
    expect(told()).toEqual(['Warning ImageGCFailed: the disk is busy']);
    ports.advance(FIVE_MINUTES);
    collected(result());
    expect(actor()).toMatchObject({ state: 'collecting.waiting' });
    expect(actor()).not.toHaveProperty('lastFailure');
    ports.advance(FIVE_MINUTES);
    refused('away again');
    expect(told()).toEqual([]);
  });

  test('C47: records the events of a collection, also at the first failure', () => {
    const { collected, told, ports } = node();
    const full = failed('full', { events: [warning('FreeDiskSpaceFailed', 'full')] });
    collected(full);
    expect(told()).toEqual(['Warning FreeDiskSpaceFailed: full']);
    ports.advance(FIVE_MINUTES);
    collected(full);
    expect(told()).toEqual(['Warning FreeDiskSpaceFailed: full', 'Warning ImageGCFailed: full']);
  });

  test('C47: only detects images if it is off, and reports no failure', () => {
    const { collected, refused, actor, told, ports, calls } = node({
      ...defaultImageGarbagePolicy,
      highThresholdPercent: 100,
    });
    expect(actor()?.state).toBe('off.detecting');
    refused('away');
    for (const _ of [1, 2]) {
      ports.advance(FIVE_MINUTES);
      refused('away');
    }
    expect([actor()?.state, told(), calls().length]).toEqual(['off.waiting', [], 3]);
    ports.advance(FIVE_MINUTES);
    collected(result());
    expect(actor()).toMatchObject({
      state: 'off.waiting',
      facts: expect.arrayContaining(['off (imageGCHighThresholdPercent is 100 and imageMaximumGCAge is 0s)']),
    });
  });

  test('C47: shows the images, their filesystem, the removed images and the settings', () => {
    const { collected, actor } = node({ ...defaultImageGarbagePolicy, maxAgeMs: 3_600_000 * 24 });
    expect(actor()?.facts).toEqual(['removes unused images from 85 % to 80 % usage', 'removes images unused for 24h']);
    const removed = [{ id: 'a', name: 'a:1', sizeBytes: 2.5e9, reason: 'age' as const }];
    collected(result({ removed }));
    expect(actor()?.facts).toEqual([
      '3 images, 1 unused',
      'filesystem 40 % of 1.0 GB used',
      'removed 1 images (2.5 GB)',
      'removes unused images from 85 % to 80 % usage',
      'removes images unused for 24h',
    ]);
  });
});

test('C47: every state of the chart is reached, and from each the collection continues', () => {
  const walk = (highThresholdPercent: number) =>
    stepsOf({
      machine: imageGarbageMachine,
      input: { nodeName: 'node', policy: { ...defaultImageGarbagePolicy, highThresholdPercent } },
      events: () => [{ type: 'images.podsListed', activePodUids: [] }],
      outputs: { collectImages: () => [result(), failed('full')] },
      distinguish: () => undefined,
    });
  const steps = [...walk(85), ...walk(100)];
  const reached = new Set(
    steps.flatMap(({ state, nextState }) => [state, nextState].map(({ value }) => statePath(value))),
  );
  expect([...reached].sort()).toEqual(
    atomicStates(imageGarbageMachine)
      .filter((state) => !isPassing(state))
      .map(({ path }) => path.join('.'))
      .sort(),
  );
  for (const { state, nextState } of steps) {
    const [before, after] = [statePath(state.value), statePath(nextState.value)];
    // Only a failure leads to `failing`, and the settings never change.
    expect(before.startsWith('off')).toBe(after.startsWith('off'));
  }
});
