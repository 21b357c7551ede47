import { describe, expect, test } from '@jest/globals';
import type { FailureReason } from '../../../base/failure.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { PodEvent } from '../../../machines/shared/events/events.ts';
import type { LimiterEvent } from '../../../machines/shared/events/slots.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { volumeMachine } from '../../../machines/volume/chart.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { shownState } from '../support/containerStory.ts';
import { childOf, ear, eventEar, START } from '../support/stand.ts';

/** Returns a pod with two containers, the first of which mounts the volume. */
const podOf = (volume: Volume, version: string) => {
  const main = aContainer({ volumeMounts: [{ name: volume.name, mountPath: '/data' }] });
  return aPod({ volumes: [volume], containers: [main, aContainer({ name: 'other' })] }, { labels: { version } });
};

function volumeStory(volume: Volume = { name: 'data', emptyDir: {} }, over: Partial<PodSpec> = {}) {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  const parent = ear<PodEvent>();
  const limiter = ear<LimiterEvent>(parent.ref, 'pullLimiter');
  const { inspect, told, toldOf } = eventEar();
  const pod = podOf(volume, '1');
  const actor = childOf(parent.ref, provideActors(volumeMachine, ports), {
    id: 'volume/data',
    inspect,
    input: {
      pod: { ...pod, spec: { ...pod.spec, ...over } },
      name: 'data',
      arrivalOrder: 7,
    },
  });
  return {
    ports,
    start: () => void actor.start(),
    update: (version: string) => actor.send({ type: 'volume.update', pod: podOf(volume, version) }),
    failure: () => actor.getSnapshot().context.failure?.reason,
    waitingReason: () => actor.getSnapshot().context.waitingReason,
    returned: () => actor.send({ type: 'runtime.returned' }),
    unmount: () => actor.send({ type: 'volume.unmount' }),
    state: () => shownState(actor),
    hasTag: (tag: 'leaving') => actor.getSnapshot().hasTag(tag),
    meta: () => Object.values(actor.getSnapshot().getMeta()).at(-1),
    grant: () => actor.getSnapshot().children.image?.send({ type: 'slot.granted', key: 'any' }),
    asksOfLimiter: () => limiter.heard().map((asked) => ('key' in asked ? `${asked.type} ${asked.key}` : asked.type)),
    reports: () => parent.heard(),
    told,
    toldOf,
  };
}

test('a volume is mounted, and its path is reported to its pod', () => {
  const story = volumeStory();
  story.start();
  expect(story.state()).toBe('mounted.steady');
  expect(story.reports()).toEqual([
    {
      type: 'volume.changed',
      name: 'data',
      lifecycle: 'mounted',
      mountedVolume: { kind: 'path', hostPath: '/volumes/data' },
    },
  ]);
});

test('a failed mount is retried after 0.5 s, doubling to 122 s', () => {
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
  expect(story.state()).toBe('mounted.steady');
});

test('an update of the pod does not shorten the back-off, and the next attempt uses it', () => {
  const story = volumeStory();
  story.ports.failNext('mountVolume', 'FailedMount');
  story.start();
  story.ports.advance(400);
  story.update('2');
  expect(story.state()).toBe('awaitingRetry');
  story.ports.advance(100);
  expect(story.state()).toBe('mounted.steady');
  expect(story.ports.asked('mountVolume').map(({ pod }) => pod.metadata.labels?.version)).toEqual(['1', '2']);
});

test('each call of a volume has a time limit, which its state shows', () => {
  const story = volumeStory();
  for (const port of ['mountVolume', 'unmountVolume'] as const) story.ports.hold(port);
  story.start();
  const [mount] = story.ports.asked('mountVolume');
  expect(story.meta()).toEqual({ waitsFor: 'its mount to complete', afterMs: mount?.limitMs });
  story.unmount();
  const [unmount] = story.ports.asked('unmountVolume');
  expect(story.meta()).toMatchObject({ waitsFor: 'its unmount to complete', afterMs: unmount?.limitMs });
  expect([mount?.limitMs, unmount?.limitMs]).toEqual([120_000, 1_200_000]);
});

test.each(['mounting', 'awaitingRetry', 'mounted'])(
  'a volume in the state %s is unmounted, including a partial mount',
  (state) => {
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
    expect(story.reports().at(-1)).toMatchObject({ lifecycle: 'unmounted' });
  },
);

test('a volume does not block while it is being unmounted, even if the unmount fails', () => {
  const story = volumeStory();
  story.start();
  expect(story.hasTag('leaving')).toBe(false);
  story.ports.failNext('unmountVolume', 'FailedUnmount');
  story.unmount();
  expect(story.state()).toBe('awaitingUnmountRetry');
  expect(story.hasTag('leaving')).toBe(true);
});

test('a failed unmount is retried until it succeeds', () => {
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

describe('an update of the pod of a mounted volume', () => {
  const shown: Volume = { name: 'data', downwardAPI: { items: [] } };
  const versions = (story: ReturnType<typeof volumeStory>) =>
    story.ports.asked('mountVolume').map(({ pod }) => pod.metadata.labels?.version);

  test('is written into a volume that exposes pod fields, which stays mounted', () => {
    const story = volumeStory(shown);
    story.start();
    expect(story.state()).toBe('mounted.steady');
    story.ports.hold('mountVolume');
    story.update('2');
    expect(story.state()).toBe('mounted.refreshing.current');
    story.update('3');
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('mounted.steady');
    expect(versions(story)).toEqual(['1', '2', '3']);
    expect(story.reports().map((each) => each.type === 'volume.changed' && each.lifecycle)).toEqual(['mounted']);
  });

  test('is retried with the back-off of mounts, and clears its failure on success', () => {
    const story = volumeStory(shown);
    story.start();
    for (let times = 0; times < 2; times++) story.ports.failNext('mountVolume', 'FailedMount');
    story.update('2');
    expect(story.state()).toBe('mounted.awaitingRefresh');
    expect(story.ports.untilNext).toBe(500);
    story.ports.advance(500);
    expect(story.ports.untilNext).toBe(1_000);
    expect(story.failure()).toBe('FailedMount');
    story.update('3');
    expect(story.state()).toBe('mounted.awaitingRefresh');
    story.ports.advance(1_000);
    expect(story.state()).toBe('mounted.steady');
    expect(story.failure()).toBeUndefined();
    expect(versions(story)).toEqual(['1', '2', '2', '3']);
  });

  test.each(['refreshing', 'awaitingRefresh'])('does not prevent the unmount while %s', (state) => {
    const story = volumeStory(shown);
    story.start();
    story.ports.hold('mountVolume');
    story.update('2');
    if (state === 'awaitingRefresh') story.ports.fail('mountVolume', 'FailedMount');
    expect(story.state()).toContain(`mounted.${state}`);
    story.unmount();
    expect(story.state()).toBe('unmounted');
  });

  test('is ignored by a volume with other content', () => {
    const story = volumeStory();
    story.start();
    story.update('2');
    expect(story.state()).toBe('mounted.steady');
    expect(versions(story)).toEqual(['1']);
  });
});

describe('C17: an image of a volume', () => {
  const key = 'uid-1/volume:data/pull';
  const imageStory = (pullPolicy: 'Always' | 'IfNotPresent' | 'Never') => {
    const story = volumeStory({ name: 'data', image: { reference: 'site:1', pullPolicy } });
    story.ports.hold('findImage', 'pullImage');
    story.start();
    return story;
  };
  const pulled = { imageRef: 'sha256:1', sizeBytes: 1, startedAt: START, finishedAt: START };
  const mounted = {
    type: 'volume.changed',
    name: 'data',
    lifecycle: 'mounted',
    mountedVolume: { kind: 'image', imageRef: 'sha256:1' },
  };

  test('that is present is not pulled', () => {
    const story = imageStory('IfNotPresent');
    expect(story.state()).toBe('gettingImage.checking');
    story.ports.answer('findImage', { imageRef: 'sha256:1', at: START });
    expect(story.reports()).toEqual([mounted]);
    expect(story.ports.asked('pullImage')).toEqual([]);
  });

  test.each([
    ['IfNotPresent', null],
    ['Always', 'sha256:old'],
  ] as const)('with policy %s and %j present is pulled when its turn comes, and releases its slot', (policy, there) => {
    const story = imageStory(policy);
    story.ports.answer('findImage', { imageRef: there, at: START });
    expect(story.state()).toBe('gettingImage.queued');
    expect(story.asksOfLimiter()).toEqual([`slot.request ${key}`]);
    story.grant();
    expect(story.ports.asked('pullImage')).toMatchObject([{ image: 'site:1' }]);
    story.ports.answer('pullImage', pulled);
    expect(story.reports()).toEqual([mounted]);
    expect(story.asksOfLimiter()).toContain(`slot.release ${key}`);
  });

  /** Reports the image as absent and fails its pull. */
  const failPull = (story: ReturnType<typeof imageStory>, reason: FailureReason = 'ErrImagePull') => {
    story.ports.answer('findImage', { imageRef: null, at: START });
    story.grant();
    story.ports.fail('pullImage', reason);
  };

  test('that cannot be pulled is retried after 10 s, doubling; its error is reported first, then the back-off', () => {
    const story = imageStory('Always');
    for (const wait of [10_000, 20_000]) {
      failPull(story);
      expect(story.state()).toBe('gettingImage.failed');
      expect(story.waitingReason()).toMatchObject({ reason: 'ErrImagePull', message: 'pullImage failed' });
      story.ports.advance(3_000);
      expect(story.state()).toBe('gettingImage.backingOff');
      expect(story.waitingReason()).toMatchObject({
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "site:1": ErrImagePull: pullImage failed',
      });
      expect([story.failure(), story.ports.untilNext]).toEqual(['ErrImagePull', wait - 3_000]);
      story.ports.advance(wait - 3_000);
    }
    story.ports.answer('findImage', { imageRef: null, at: START });
    story.grant();
    story.ports.answer('pullImage', pulled);
    expect([story.state(), story.failure(), story.waitingReason()]).toEqual(['mounted.steady', undefined, undefined]);
  });

  test('records its pulls for the pod, and errors also for the containers that mount it', () => {
    const story = imageStory('Always');
    failPull(story);
    story.ports.advance(3_000);
    expect(story.toldOf()).toEqual([
      'pod Normal Pulling: Pulling image "site:1"',
      'pod Warning Failed: Failed to pull image "site:1": pullImage failed',
      'spec.containers{main} Warning Failed: Error: ErrImagePull',
      'pod Normal BackOff: Back-off pulling image "site:1"',
      'spec.containers{main} Warning Failed: Error: ImagePullBackOff',
    ]);
    story.ports.advance(7_000);
    story.ports.answer('findImage', { imageRef: null, at: START });
    story.grant();
    story.ports.answer('pullImage', { ...pulled, finishedAt: START + 200 });
    expect(story.told()[1]).toBe(
      'Normal Pulled: Successfully pulled image "site:1" in 200ms (200ms including waiting). Image size: 1 bytes.',
    );
  });

  test('C16: is reported for the first init container that mounts it, and no later container', () => {
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    const initContainers = [
      aContainer({ name: 'i' }),
      aContainer({ name: 'j', volumeMounts }),
      aContainer({ name: 'k', volumeMounts }),
    ];
    const story = volumeStory(
      { name: 'data', image: { reference: 'site:1', pullPolicy: 'Never' } },
      { initContainers },
    );
    story.ports.hold('findImage');
    story.start();
    story.ports.answer('findImage', { imageRef: null, at: START });
    expect(story.toldOf().slice(1)).toEqual(['spec.initContainers{j} Warning Failed: Error: ErrImageNeverPull']);
  });

  test.each([
    ['InvalidImageName', 'InvalidImageName', 'findImage failed'],
    ['RuntimeError', 'ImageInspectError', 'Failed to inspect image "site:1": findImage failed'],
  ] as const)('whose check fails with %s shows %s', (failure, reason, message) => {
    const story = imageStory('IfNotPresent');
    story.ports.fail('findImage', failure);
    expect(story.state()).toBe('gettingImage.awaitingRetry');
    expect(story.waitingReason()).toEqual({ failedStep: 'image', reason, message });
    expect(story.toldOf()[1]).toBe(`spec.containers{main} Warning Failed: Error: ${reason}`);
    story.returned();
    expect(story.state()).toBe('gettingImage.awaitingRetry');
    expect(story.ports.untilNext).toBe(10_000);
  });

  test.each(['findImage', 'pullImage'] as const)(
    'that waits because the runtime was not available during %s is checked without an event when the runtime returns',
    (port) => {
      const story = imageStory('Always');
      if (port === 'findImage') story.ports.fail('findImage', 'RuntimeUnavailable');
      else failPull(story, 'RuntimeUnavailable');
      expect(story.state()).toBe('gettingImage.awaitingRetry');
      expect([story.waitingReason(), story.ports.untilNext]).toEqual([undefined, 1_000]);
      expect(story.told().filter((each) => each.startsWith('Warning'))).toEqual([]);
      story.returned();
      expect(story.state()).toBe('gettingImage.checking');
      story.ports.answer('findImage', { imageRef: 'sha256:1', at: START });
      story.grant();
      story.ports.answer('pullImage', pulled);
      expect(story.reports()).toEqual([mounted]);
    },
  );

  test('that is absent under Never is awaited', () => {
    const story = imageStory('Never');
    story.ports.answer('findImage', { imageRef: null, at: START });
    expect(story.state()).toBe('gettingImage.missing');
    expect(story.waitingReason()?.reason).toBe('ErrImageNeverPull');
    expect(story.toldOf()).toEqual([
      'pod Warning ErrImageNeverPull: Container image "site:1" is not present with pull policy of Never',
      'spec.containers{main} Warning Failed: Error: ErrImageNeverPull',
    ]);
    story.ports.advance(10_000);
    story.ports.answer('findImage', { imageRef: 'sha256:1', at: START });
    expect(story.reports()).toEqual([{ type: 'volume.changed', name: 'data', lifecycle: 'delayed' }, mounted]);
  });

  test.each(['checking', 'queued', 'pulling', 'failed', 'backingOff', 'awaitingRetry', 'missing'])(
    'is dropped while %s when its pod terminates',
    (state) => {
      const story = imageStory(state === 'missing' ? 'Never' : 'Always');
      if (state === 'awaitingRetry') story.ports.fail('findImage', 'RuntimeError');
      else if (state !== 'checking') story.ports.answer('findImage', { imageRef: null, at: START });
      if (['pulling', 'failed', 'backingOff'].includes(state)) story.grant();
      if (['failed', 'backingOff'].includes(state)) story.ports.fail('pullImage', 'ErrImagePull');
      if (state === 'backingOff') story.ports.advance(3_000);
      expect(story.state()).toBe(`gettingImage.${state}`);
      story.unmount();
      expect(story.state()).toBe('unmounted');
      if (state === 'queued' || state === 'pulling') expect(story.asksOfLimiter().at(-1)).toBe(`slot.release ${key}`);
    },
  );
});
