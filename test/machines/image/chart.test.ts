import { describe, expect, test } from '@jest/globals';
import { involvedPod, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { imageMachine } from '../../../machines/image/chart.ts';
import type { ImageInput } from '../../../machines/image/setup.ts';
import type { ImageEvent, ImageFact } from '../../../machines/shared/events/events.ts';
import type { LimiterEvent } from '../../../machines/shared/events/slots.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import {
  asking,
  atomicStates,
  doneEvent,
  failedEvent,
  invokedBy,
  leadTo,
  leavesOf,
  stepsOf,
} from '../support/reach.ts';
import { childOf, ear, eventEar, START } from '../support/stand.ts';

const pod = aPod({ containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })] });
const [a, b] = ['a', 'b'].map((name) => involvedPod(pod, { name, role: 'regular' }));

const inputOf = (over: Partial<ImageInput>): ImageInput => ({
  pod,
  image: 'registry.example.com/app:1',
  policy: 'IfNotPresent',
  key: 'uid-1/a/pull',
  arrivalOrder: 3,
  delayMs: 0,
  involvedObject: involvedPod(pod),
  blockedObjects: [a, b].flatMap((each) => each ?? []),
  waitingReason: undefined,
  sharesEarlierImage: false,
  ...over,
});

function imageStory(over: Partial<ImageInput> = {}) {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  ports.hold('findImage', 'pullImage');
  const parent = ear<ImageFact>();
  const limiter = ear<LimiterEvent>(parent.ref, 'pullLimiter');
  const { inspect, toldOf } = eventEar();
  const actor = childOf(parent.ref, provideActors(imageMachine, ports), {
    id: 'image',
    inspect,
    input: inputOf(over),
  }).start();
  return {
    ports,
    toldOf,
    send: (event: ImageEvent) => actor.send(event),
    state: () => statePath(actor.getSnapshot().value),
    output: () => actor.getSnapshot().output,
    reports: () => parent.heard(),
    requests: () => limiter.heard().filter(({ type }) => type === 'slot.request'),
    releases: () => limiter.heard().filter(({ type }) => type === 'slot.release').length,
    /** Reports the image as absent, grants the pull slot, and fails the pull. */
    failToPull(this: void) {
      ports.answer('findImage', { imageRef: null, at: ports.now });
      actor.send({ type: 'slot.granted', key: '' });
      ports.fail('pullImage', 'ErrImagePull');
    },
  };
}

describe('C17: an image', () => {
  test('is retried behind all first attempts after a failed pull, and later each time', () => {
    const story = imageStory();
    const delays = [1, 2, 3].map(() => {
      story.failToPull();
      story.ports.advance(3_000);
      expect(story.state()).toBe('backingOff');
      const { delayMs } = story.reports().at(-1) ?? {};
      story.ports.advance(story.ports.untilNext ?? 0);
      return delayMs;
    });
    expect(delays).toEqual([10_000, 20_000, 40_000]);
    expect(story.requests()).toMatchObject([
      { arrivalOrder: 3, origin: 'registry.example.com', key: 'uid-1/a/pull' },
      { arrivalOrder: Number.MAX_SAFE_INTEGER },
      { arrivalOrder: Number.MAX_SAFE_INTEGER },
    ]);
  });

  test('is retried at the end of its back-off, although the clock was set while its error was reported', () => {
    for (const by of [-3_600_000, 5_000]) {
      const story = imageStory();
      story.failToPull();
      story.ports.setClock(by);
      story.ports.advance(3_000);
      expect([story.state(), story.ports.untilNext]).toEqual(['backingOff', 7_000]);
    }
  });

  test('continues the back-off in its input, as after a reset of its pod', () => {
    const story = imageStory({ delayMs: 40_000 });
    story.failToPull();
    expect(story.reports().at(-1)).toMatchObject({ isDelayed: true, delayMs: 80_000 });
  });

  test('C16: blocks each container that needs it, and reports why until it is present', () => {
    const story = imageStory();
    story.failToPull();
    expect(story.reports().map(({ isDelayed, waitingReason }) => [isDelayed, waitingReason?.reason])).toEqual([
      [false, undefined],
      [true, 'ErrImagePull'],
    ]);
    expect(story.toldOf()).toEqual([
      'pod Normal Pulling: Pulling image "registry.example.com/app:1"',
      'pod Warning Failed: Failed to pull image "registry.example.com/app:1": pullImage failed',
      'spec.containers{a} Warning Failed: Error: ErrImagePull',
      'spec.containers{b} Warning Failed: Error: ErrImagePull',
    ]);
    story.ports.advance(3_000);
    story.ports.advance(7_000);
    // The image is checked again, but the reason of the last failure is still reported.
    expect(story.reports().at(-1)).toMatchObject({ isDelayed: false, waitingReason: { reason: 'ImagePullBackOff' } });
    story.ports.answer('findImage', { imageRef: 'sha256:1', at: 0 });
    expect([story.state(), story.output()]).toEqual(['found', { imageRef: 'sha256:1' }]);
  });

  test('is retried on the return of a runtime that failed during the pull, without an event', () => {
    const story = imageStory();
    story.ports.answer('findImage', { imageRef: null, at: 0 });
    story.send({ type: 'slot.granted', key: '' });
    story.ports.fail('pullImage', 'RuntimeUnavailable');
    expect(story.state()).toBe('awaitingRetry');
    expect(story.reports().at(-1)).toMatchObject({ isDelayed: true, delayMs: 0, waitingReason: undefined });
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('checking');
    expect(story.toldOf()).toEqual(['pod Normal Pulling: Pulling image "registry.example.com/app:1"']);
  });

  test('is checked with the updated pod', () => {
    const story = imageStory();
    const updated = aPod({}, { labels: { version: '2' } });
    story.send({ type: 'image.update', pod: updated });
    story.failToPull();
    expect(story.ports.asked('pullImage')).toMatchObject([{ pod: updated }]);
  });
});

describe('C17: an image that waits for its pull slot', () => {
  const absent = { imageRef: null, at: 0 };
  /** Creates an image that is absent and got its pull slot only after a wait. */
  function waited(over: Partial<ImageInput> = {}) {
    const story = imageStory(over);
    story.ports.answer('findImage', absent);
    expect(story.state()).toBe('queued');
    story.send({ type: 'slot.granted', key: '', hasWaited: true });
    return story;
  }

  test('is checked again, and not pulled if another container has pulled it meanwhile', () => {
    const story = waited({ sharesEarlierImage: true });
    expect(story.state()).toBe('checkingAgain');
    story.ports.answer('findImage', { imageRef: 'sha256:1', at: 0 });
    expect([story.state(), story.output()]).toEqual(['found', { imageRef: 'sha256:1' }]);
    expect(story.toldOf()).toEqual([
      'pod Normal Pulled: Container image "registry.example.com/app:1" already present on machine and can be accessed by the pod',
    ]);
    expect([story.ports.asked('pullImage'), story.releases()]).toEqual([[], 1]);
  });

  test.each([true, false])(
    'is pulled if it is still absent, with one event (followsSameImage: %s)',
    (sharesEarlierImage) => {
      const story = waited({ sharesEarlierImage });
      expect(story.toldOf()).toHaveLength(sharesEarlierImage ? 0 : 1);
      story.ports.answer('findImage', absent);
      expect([story.state(), story.releases()]).toEqual(['pulling', 0]);
      expect(story.toldOf()).toHaveLength(sharesEarlierImage ? 1 : 0);
    },
  );

  test('releases its slot if it cannot be checked', () => {
    const story = waited();
    story.ports.fail('findImage', 'RuntimeError');
    expect([story.state(), story.releases()]).toEqual(['awaitingRetry', 1]);
  });

  test('is pulled at once under the policy Always', () => {
    expect(waited({ policy: 'Always' }).state()).toBe('pulling');
  });
});

describe('C17: a present image to which the pod has not proved its access', () => {
  const unproven = { imageRef: 'sha256:1', at: 0, isUnproven: true };

  test('is pulled, also if it was already present at its turn', () => {
    const story = imageStory();
    story.ports.answer('findImage', unproven);
    expect(story.state()).toBe('queued');
    story.send({ type: 'slot.granted', key: '', hasWaited: true });
    story.ports.answer('findImage', unproven);
    expect([story.state(), story.releases()]).toEqual(['pulling', 0]);
    story.ports.answer('pullImage', { imageRef: 'sha256:1', sizeBytes: 1, startedAt: 0, finishedAt: 1 });
    expect(story.output()).toEqual({ imageRef: 'sha256:1' });
  });

  test('counts as absent if it must not be pulled', () => {
    const story = imageStory({ policy: 'Never' });
    story.ports.answer('findImage', unproven);
    expect([story.state(), story.reports().at(-1)?.waitingReason?.reason]).toEqual(['missing', 'ErrImageNeverPull']);
  });
});

test.each(['Always', 'IfNotPresent', 'Never'])(
  'C16: unavailable pull secrets are recorded for the pod at each check (%s)',
  (policy) => {
    for (const imageRef of ['sha256:1', null]) {
      const story = imageStory({ policy });
      story.ports.answer('findImage', { imageRef, at: 0, warnings: [warning('Missing', 'no secret')] });
      const events = story.toldOf();
      expect(events[0]).toBe('pod Warning Missing: no secret');
      expect(events.filter((each) => each.includes('Missing'))).toHaveLength(1);
    }
  },
);

describe('an image in any order of events', () => {
  const events: ImageEvent[] = [
    { type: 'image.update', pod },
    { type: 'runtime.returned' },
    { type: 'slot.granted', key: '' },
    { type: 'slot.granted', key: '', hasWaited: true },
    { type: 'timer.elapsed' },
  ];
  const outputs = {
    findImage: () => [
      { imageRef: 'sha256:1', at: 0 },
      { imageRef: null, at: 0 },
      { imageRef: 'sha256:1', at: 0, isUnproven: true, warnings: [{ reason: 'Odd', message: 'no such secret' }] },
    ],
    pullImage: () => [{ imageRef: 'sha256:1', sizeBytes: 1, startedAt: 0, finishedAt: 1 }],
  };
  const walks = ['Always', 'IfNotPresent', 'Never'].map((policy) => {
    const input = inputOf({ policy });
    const distinguish = ({ context }: { context: { failure?: { reason: string } } }) => context.failure?.reason;
    return { input, steps: stepsOf({ machine: imageMachine, input, events: () => events, outputs, distinguish }) };
  });

  test('never fails, and reaches every state', () => {
    const all = walks.flatMap(({ steps }) => steps);
    expect(new Set(all.map(({ nextState }) => nextState.status))).toEqual(new Set(['active', 'done']));
    const reached = new Set(all.flatMap(({ nextState }) => leavesOf(nextState)));
    expect(atomicStates(imageMachine).filter((node) => !reached.has(node))).toEqual([]);
  });

  test('is present in the end from every state', () => {
    const stuck = walks.flatMap(({ input, steps }) => {
      const { ask } = asking(imageMachine, input);
      return steps.flatMap(({ state }) => {
        const path = leadTo(ask, state, {
          goals: ['found'],
          next: (snapshot) => {
            const [invoked] = invokedBy(snapshot);
            if (invoked === undefined) return { type: 'slot.granted', key: '' };
            if (invoked.src === 'timer') return { type: 'timer.elapsed' };
            return doneEvent(invoked.id, outputs.findImage()[0]);
          },
        });
        return path.at(-1) === 'found' ? [] : [[statePath(state.value), ...path]];
      });
    });
    expect(stuck).toEqual([]);
  });

  test('is never pulled if it must not be', () => {
    const [, , never] = walks;
    expect(never?.steps.flatMap(({ nextState }) => invokedBy(nextState)).map(({ src }) => src)).not.toContain(
      'pullImage',
    );
  });
});

test('an image whose check failed is reported as such, not as a failed pull', () => {
  const { first, ask } = asking(imageMachine, inputOf({}));
  const failed = ask(first, failedEvent(invokedBy(first)[0]?.id ?? '', 'RuntimeError'));
  expect([failed.value, failed.context.waitingReason.reason]).toEqual(['awaitingRetry', 'ImageInspectError']);
});
