import { describe, expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { PodEvent } from '../../machines/events.ts';
import type { Volume } from '../../pod/schema/volume.ts';
import { FakePorts } from '../fakes/ports.ts';
import { FakeWorld } from '../fakes/world.ts';
import { aPod } from '../pod/fixtures.ts';
import { fakedVolume } from './support/podStory.ts';
import { ear, START } from './support/stand.ts';

const podOf = (volume: Volume, version: string) => aPod({ volumes: [volume] }, { labels: { version } });

function volumeStory(volume: Volume = { name: 'data', emptyDir: {} }) {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  const parent = ear<PodEvent>();
  const actor = createActor(fakedVolume(ports), {
    input: { pod: podOf(volume, '1'), name: 'data', parent: parent.ref },
  });
  return {
    ports,
    start: () => void actor.start(),
    update: (version: string) => actor.send({ type: 'volume.update', pod: podOf(volume, version) }),
    failure: () => actor.getSnapshot().context.failure?.reason,
    unmount: () => actor.send({ type: 'volume.unmount' }),
    state: () => actor.getSnapshot().value,
    reports: () => parent.heard(),
  };
}

test('it is mounted, and tells its pod where', () => {
  const story = volumeStory();
  story.start();
  expect(story.state()).toEqual({ mounted: 'steady' });
  expect(story.reports()).toEqual([
    { type: 'volume.changed', name: 'data', standing: 'mounted', hostPath: '/volumes/data' },
  ]);
});

test('a failed mount waits 0.5 s, doubling to 122 s', () => {
  const story = volumeStory();
  story.ports.hold('mountVolume');
  story.start();
  const waits = Array.from({ length: 10 }, () => {
    story.ports.fail('mountVolume', 'FailedMount');
    const wait = story.ports.untilNext ?? 0;
    story.ports.advance(wait);
    return wait;
  });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 122_000, 122_000]);
  story.ports.answer('mountVolume');
  expect(story.state()).toEqual({ mounted: 'steady' });
});

test.each(['mounting', 'awaitingRetry', 'mounted'])('from %s it is unmounted: a half-made mount too', (state) => {
  const story = volumeStory();
  if (state !== 'mounted') story.ports.hold('mountVolume');
  story.start();
  if (state === 'awaitingRetry') story.ports.fail('mountVolume', 'FailedMount');
  expect(JSON.stringify(story.state())).toContain(state);
  story.unmount();
  expect(story.state()).toBe('unmounted');
  expect(story.ports.asked('unmountVolume')).toHaveLength(1);
  expect(story.ports.pending()).toEqual([]);
  expect(story.ports.untilNext).toBeUndefined();
  expect(story.reports().at(-1)).toMatchObject({ standing: 'unmounted' });
});

test('a failed unmount is tried again until it works', () => {
  const story = volumeStory();
  story.start();
  for (let times = 0; times < 2; times++) story.ports.failNext('unmountVolume', 'FailedUnmount');
  story.unmount();
  expect(story.state()).toBe('awaitingUnmountRetry');
  story.ports.advance(500);
  expect(story.state()).toBe('awaitingUnmountRetry');
  story.unmount();
  story.ports.advance(1_000);
  expect(story.state()).toBe('unmounted');
});

describe('an update of its pod while it is mounted', () => {
  const shown: Volume = { name: 'data', downwardAPI: { items: [] } };
  const versions = (story: ReturnType<typeof volumeStory>) =>
    story.ports.asked('mountVolume').map(({ pod }) => pod.metadata.labels?.version);

  test('is written into a volume that shows its pod, which stays mounted for its pod', () => {
    const story = volumeStory(shown);
    story.start();
    expect(story.state()).toEqual({ mounted: 'steady' });
    story.ports.hold('mountVolume');
    story.update('2');
    expect(story.state()).toEqual({ mounted: 'refreshing' });
    story.update('3');
    story.ports.answer('mountVolume');
    expect(story.state()).toEqual({ mounted: 'steady' });
    expect(versions(story)).toEqual(['1', '2', '3']);
    expect(story.reports().map((each) => each.type === 'volume.changed' && each.standing)).toEqual(['mounted']);
  });

  test('is tried again with the back-off of mounts, and forgets its failure when it works', () => {
    const story = volumeStory(shown);
    story.start();
    for (let times = 0; times < 2; times++) story.ports.failNext('mountVolume', 'FailedMount');
    story.update('2');
    expect(story.state()).toEqual({ mounted: 'awaitingRefresh' });
    expect(story.ports.untilNext).toBe(500);
    story.ports.advance(500);
    expect(story.ports.untilNext).toBe(1_000);
    expect(story.failure()).toBe('FailedMount');
    story.update('3');
    expect(story.state()).toEqual({ mounted: 'steady' });
    expect(story.failure()).toBeUndefined();
    expect(versions(story)).toEqual(['1', '2', '2', '3']);
  });

  test.each(['refreshing', 'awaitingRefresh'])('does not keep it from being unmounted while %s', (state) => {
    const story = volumeStory(shown);
    story.start();
    story.ports.hold('mountVolume');
    story.update('2');
    if (state === 'awaitingRefresh') story.ports.fail('mountVolume', 'FailedMount');
    expect(story.state()).toEqual({ mounted: state });
    story.unmount();
    expect(story.state()).toBe('unmounted');
  });

  test('is nothing to a volume that has its content from elsewhere', () => {
    const story = volumeStory();
    story.start();
    story.update('2');
    expect(story.state()).toEqual({ mounted: 'steady' });
    expect(versions(story)).toEqual(['1']);
  });
});
