/** Tests a volume with a service account token, which expires. */
import { expect, test } from '@jest/globals';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { PodEvent } from '../../../machines/shared/events/events.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { volumeMachine } from '../../../machines/volume/chart.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { shownState } from '../support/containerStory.ts';
import { childOf, ear, eventEar, START } from '../support/stand.ts';

const [MINUTE, HOUR] = [60_000, 3_600_000];
const volume: Volume = {
  name: 'data',
  projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }] },
};
const podOf = (version: string) => {
  const main = aContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] });
  return aPod({ volumes: [volume], containers: [main] }, { labels: { version } });
};

/** Creates a mounted volume whose token is due for renewal in 48 minutes. */
function tokenStory() {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  ports.hold('mountVolume');
  const parent = ear<PodEvent>();
  const { inspect, told } = eventEar();
  const actor = childOf(parent.ref, provideActors(volumeMachine, ports), {
    id: 'volume/data',
    inspect,
    input: { pod: podOf('1'), name: 'data', arrivalOrder: 7 },
  });
  actor.start();
  const answer = (ms: number | undefined) =>
    ports.answer('mountVolume', {
      kind: 'path',
      hostPath: '/volumes/data',
      own: true,
      ...(ms === undefined ? {} : { renewAt: ports.now + ms }),
    });
  answer(48 * MINUTE);
  return {
    ports,
    answer,
    told,
    state: () => shownState(actor),
    meta: () => actor.getSnapshot().getMeta()['volume.mounted.awaitingRenewal'],
    update: (version: string) => actor.send({ type: 'volume.update', pod: podOf(version) }),
    unmount: () => actor.send({ type: 'volume.unmount' }),
    asked: () => ports.asked('mountVolume').length,
    lifecycles: () => parent.heard().map((each) => each.type === 'volume.changed' && each.lifecycle),
  };
}

test('a volume is renewed repeatedly when its token is due, and stays mounted meanwhile', () => {
  const { ports, answer, state, meta, asked, lifecycles } = tokenStory();
  expect(state()).toBe('mounted.awaitingRenewal');
  expect(meta()).toEqual({ waitsFor: 'the next renewal of its token', until: 'dueAt' });
  for (let times = 2; times < 212; times++) {
    ports.advance(48 * MINUTE - 1);
    expect([state(), asked()]).toEqual(['mounted.awaitingRenewal', times - 1]);
    ports.advance(1);
    expect([state(), asked()]).toEqual(['mounted.refreshing.current', times]);
    answer(48 * MINUTE);
  }
  expect(ports.now - START).toBe(7 * 24 * HOUR);
  expect(lifecycles()).toEqual(['mounted']);
});

test('a volume uses the latest renewal time', () => {
  const { ports, answer, state } = tokenStory();
  ports.advance(48 * MINUTE);
  answer(2_000);
  ports.advance(2_000);
  expect(state()).toBe('mounted.refreshing.current');
});

test('a volume is not renewed once it contains no token', () => {
  const { ports, answer, state } = tokenStory();
  ports.advance(48 * MINUTE);
  answer(undefined);
  ports.advance(1_000);
  expect([state(), ports.untilNext]).toEqual(['mounted.steady', undefined]);
});

test('a failed renewal is retried with growing delays, and the old token remains', () => {
  const { ports, answer, state, told, lifecycles } = tokenStory();
  ports.advance(48 * MINUTE);
  const waits = Array.from({ length: 4 }, () => {
    ports.fail('mountVolume', 'FailedMount', 'failed to fetch token: no answer within 10s');
    expect(state()).toBe('mounted.awaitingRefresh');
    const wait = ports.untilNext ?? 0;
    ports.advance(wait);
    return wait;
  });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  expect(told()).toContainEqual(expect.stringContaining('failed to fetch token: no answer within 10s'));
  answer(48 * MINUTE);
  ports.advance(1_000);
  expect(state()).toBe('mounted.awaitingRenewal');
  expect([ports.untilNext, lifecycles()]).toEqual([48 * MINUTE - 1_000, ['mounted']]);
});

test('a volume is updated with its pod at once, without postponing the renewal', () => {
  const { ports, answer, update, state } = tokenStory();
  ports.advance(20 * MINUTE);
  update('2');
  expect(state()).toBe('mounted.refreshing.current');
  answer(28 * MINUTE);
  ports.advance(28 * MINUTE);
  expect(state()).toBe('mounted.refreshing.current');
  expect(ports.asked('mountVolume').map(({ pod }) => pod.metadata.labels?.version)).toEqual(['1', '2', '2']);
});

test('a volume is renewed if the clock is set past the renewal time, or back', () => {
  for (const by of [HOUR, -HOUR]) {
    const { ports, state } = tokenStory();
    ports.advance(MINUTE);
    ports.setClock(by);
    ports.advance(0);
    expect(state()).toBe('mounted.refreshing.current');
  }
});

test('an unmounted volume does not wait for its renewal', () => {
  const { ports, unmount, state } = tokenStory();
  unmount();
  expect([state(), ports.untilNext]).toEqual(['unmounted', undefined]);
});
