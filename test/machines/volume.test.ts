import { expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { PodEvent } from '../../machines/events.ts';
import { FakePorts } from '../fakes/ports.ts';
import { FakeWorld } from '../fakes/world.ts';
import { aPod } from '../pod/fixtures.ts';
import { fakedVolume } from './support/podStory.ts';
import { ear, START } from './support/stand.ts';

function volumeStory() {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  const parent = ear<PodEvent>();
  const actor = createActor(fakedVolume(ports), { input: { pod: aPod(), name: 'data', parent: parent.ref } });
  return {
    ports,
    start: () => void actor.start(),
    unmount: () => actor.send({ type: 'volume.unmount' }),
    state: () => actor.getSnapshot().value,
    reports: () => parent.heard(),
  };
}

test('it is mounted, and tells its pod where', () => {
  const story = volumeStory();
  story.start();
  expect(story.state()).toBe('mounted');
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
  expect(story.state()).toBe('mounted');
});

test.each(['mounting', 'awaitingRetry', 'mounted'])('from %s it is unmounted: a half-made mount too', (state) => {
  const story = volumeStory();
  if (state !== 'mounted') story.ports.hold('mountVolume');
  story.start();
  if (state === 'awaitingRetry') story.ports.fail('mountVolume', 'FailedMount');
  expect(story.state()).toBe(state);
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
