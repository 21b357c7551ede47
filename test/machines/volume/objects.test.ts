import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { PodEvent } from '../../../machines/shared/events/events.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { volumeMachine } from '../../../machines/volume/chart.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { shownState } from '../support/containerStory.ts';
import { podStory } from '../support/podStory.ts';
import { childOf, ear, eventEar, START } from '../support/stand.ts';

const shown: Volume = { name: 'data', configMap: { name: 'settings' } };

function volumeStory(volume: Volume = shown, labels: Record<string, string> = {}) {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  const parent = ear<PodEvent>();
  const { inspect, told } = eventEar();
  const podOf = (version: Record<string, string>) => aPod({ volumes: [volume] }, { labels: version });
  const actor = childOf(parent.ref, provideActors(volumeMachine, ports), {
    id: 'volume/data',
    inspect,
    input: { pod: podOf(labels), name: 'data', arrivalOrder: 7 },
  });
  return {
    ports,
    told,
    start: () => void actor.start(),
    changed: () => actor.send({ type: 'volume.objectsChanged' }),
    update: (version: string) => actor.send({ type: 'volume.update', pod: podOf({ version }) }),
    state: () => shownState(actor),
    attempts: () => ports.asked('mountVolume').length,
    mounted: () => actor.getSnapshot().context.mountedVolume,
    reports: () => parent.heard().length,
  };
}

function mountedStory(...args: Parameters<typeof volumeStory>) {
  const story = volumeStory(...args);
  story.start();
  expect(story.state()).toBe('mounted.steady');
  return story;
}

describe('C37: a volume that exposes objects', () => {
  test('is updated at once when they change, without another report to its pod', () => {
    const story = mountedStory();
    story.changed();
    expect([story.attempts(), story.state(), story.reports()]).toEqual([2, 'mounted.throttled.current', 1]);
    story.ports.advance(1_000);
    expect([story.attempts(), story.state()]).toEqual([2, 'mounted.steady']);
  });

  test('is written at most once a second, however often they change, and finally with their latest content', () => {
    const story = mountedStory();
    for (let update = 0; update < 10_000; update += 1) {
      story.changed();
      story.ports.advance(6);
    }
    expect(story.attempts()).toBeGreaterThan(55);
    expect(story.attempts()).toBeLessThanOrEqual(62);
    const before = story.attempts();
    story.changed();
    story.ports.advance(1_000);
    expect(story.attempts()).toBe(before + 1);
    story.ports.advance(2_000);
    expect([story.attempts(), story.state()]).toEqual([before + 1, 'mounted.steady']);
  });

  test('is read again if they changed during a read, for its mount or an update', () => {
    const story = volumeStory();
    story.ports.hold('mountVolume');
    story.start();
    story.changed();
    expect(story.state()).toBe('mounting.outdated');
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('mounted.throttled.outdated');
    story.ports.advance(1_000);
    story.changed();
    expect(story.state()).toBe('mounted.refreshing.outdated');
    story.ports.answer('mountVolume');
    story.ports.advance(1_000);
    expect(story.state()).toBe('mounted.refreshing.current');
    story.ports.answer('mountVolume');
    expect([story.attempts(), story.state()]).toEqual([3, 'mounted.throttled.current']);
  });

  test('is updated with its pod, at the same pace', () => {
    const sources = [{ configMap: { name: 'settings' } }, { downwardAPI: { items: [] } }];
    const story = mountedStory({ name: 'data', projected: { sources } });
    story.changed();
    story.update('2');
    expect([story.attempts(), story.state()]).toEqual([2, 'mounted.throttled.outdated']);
    story.update('3');
    story.ports.advance(1_000);
    const versions = story.ports.asked('mountVolume').map(({ pod }) => pod.metadata.labels?.version);
    expect(versions).toEqual([undefined, undefined, '3']);
  });

  test('continues when its token has to be renewed', () => {
    const story = mountedStory();
    story.ports.hold('mountVolume');
    story.changed();
    const renewed = { kind: 'path' as const, hostPath: '/volumes/data', renewAt: START + 60_000 };
    story.ports.answer('mountVolume', renewed);
    expect(story.mounted()).toEqual(renewed);
  });

  test.each(['mounting', 'updating'])(
    'that failed while %s is retried when its objects change, but no sooner than 1 s after the failure',
    (when) => {
      const story = when === 'mounting' ? volumeStory() : mountedStory();
      story.ports.hold('mountVolume');
      if (when === 'mounting') story.start();
      else story.changed();
      // Prolong the back-off.
      for (let times = 0; times < 6; times += 1) {
        story.ports.fail('mountVolume', 'FailedMount');
        story.ports.advance(story.ports.untilNext ?? 0);
      }
      story.ports.fail('mountVolume', 'FailedMount');
      const attempts = story.attempts();
      expect(story.ports.untilNext).toBe(32_000);
      story.changed();
      expect(story.ports.untilNext).toBe(1_000);
      story.ports.advance(1_000);
      expect(story.attempts()).toBe(attempts + 1);
      story.ports.fail('mountVolume', 'FailedMount');
      story.ports.advance(5_000);
      story.changed();
      story.ports.advance(0);
      expect(story.attempts()).toBe(attempts + 2);
      // They change during an attempt, which may have read the previous version.
      story.changed();
      story.ports.fail('mountVolume', 'FailedMount');
      expect(story.ports.untilNext).toBe(1_000);
      expect(story.told().at(-1)).toBe(
        'Warning FailedMount: MountVolume.SetUp failed for volume "data" : mountVolume failed',
      );
    },
  );
});

test.each<[string, Volume]>([
  ['an emptyDir', { name: 'data', emptyDir: {} }],
  ['a volume that exposes only its pod', { name: 'data', downwardAPI: { items: [] } }],
])("%s ignores changes of its pod's objects", (_what, volume) => {
  const story = volumeStory(volume);
  story.ports.hold('mountVolume');
  story.start();
  story.changed();
  expect(story.state()).toBe('mounting.current');
  story.ports.fail('mountVolume', 'FailedMount');
  story.changed();
  expect([story.state(), story.ports.untilNext]).toEqual(['awaitingRetry', 500]);
  story.ports.advance(500);
  story.ports.answer('mountVolume');
  story.changed();
  expect([story.state(), story.attempts()]).toEqual(['mounted.steady', 2]);
});

describe('C37: after a restart of the agent', () => {
  const story = (before: Parameters<typeof podStory>[0] = {}) => {
    const container = aContainer({ name: 'main', volumeMounts: [{ name: 'data', mountPath: '/data' }] });
    const pod = aPod({ volumes: [shown], containers: [container] });
    const failedStory = podStory({ pod, held: ['mountVolume'], ...before });
    expect(failedStory.state()).toBe('preparing.mountingVolumes');
    failedStory.ports.fail('mountVolume', 'FailedMount');
    return failedStory;
  };

  test('a pod whose object is gone continues to run, and crashed containers wait', () => {
    const failedStory = story({
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'main');
      },
    });
    expect(failedStory.containers()).toEqual({ main: 'running.steady' });
    expect(failedStory.view().containers).toMatchObject([{ now: { kind: 'running' } }]);
    failedStory.die('main-0-0', 1);
    expect(failedStory.containers()).toEqual({ main: 'pending.awaitingVolumes' });
    failedStory.ports.advance(500);
    failedStory.ports.answer('mountVolume', { kind: 'path', hostPath: '/data', own: true });
    expect(failedStory.containers()).toEqual({ main: 'running.steady' });
  });

  test('a pod without running containers waits as usual', () => {
    expect(story().state()).toBe('preparing.mountingVolumes');
  });

  test('a pod whose containers have exited reports how, and only restarts wait', () => {
    const ended = story({
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'main');
        world.end('main-0-0', 1);
      },
    });
    expect(ended.containers()).toEqual({ main: 'pending.awaitingVolumes' });
    expect(ended.view().containers).toMatchObject([{ now: { kind: 'terminated' } }]);
    ended.ports.advance(500);
    ended.ports.answer('mountVolume', { kind: 'path', hostPath: '/data', own: true });
    expect(ended.containers()).toEqual({ main: 'running.steady' });
  });
});
