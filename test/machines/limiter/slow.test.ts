import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import type { SlotGranted } from '../../../machines/shared/events/slots.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { limiterView } from '../../../machines/shared/views/views.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { asker, childOf, ear, limiter, START } from '../support/stand.ts';

/** Creates a limiter that considers a holder slow after ten seconds. */
function limiterWithTimeLimit(capacity: number) {
  const ports = new FakePorts(START);
  const of = childOf(ear().ref, provideActors(limiterMachine, ports), {
    id: 'limiter',
    input: { capacity, slowAfterMs: 10_000 },
  }).start();
  const { holder, heard } = asker<SlotGranted>(of);
  return {
    of,
    ports,
    heard,
    ask: (key: string, origin: string) =>
      of.send({ type: 'slot.request', key, arrivalOrder: 1, holder, origin, purpose: `the work of ${key}` }),
    release: (key: string) => of.send({ type: 'slot.release', key }),
    view: () => limiterView(of),
  };
}

test('a limiter lets requests of other origins pass the slow holder of the only slot', () => {
  const { of, ports, ask, release, view } = limiterWithTimeLimit(1);
  ask('slow', 'one');
  ask('again', 'one');
  ask('other', 'two');
  ports.advance(9_999);
  expect([of.getSnapshot().value, view().held]).toEqual(['fullForNow', ['slow']]);
  expect(view()).toMatchObject({ queue: ['again', 'other'], behind: [['the work of slow'], ['the work of slow']] });

  ports.advance(1);
  expect(view()).toMatchObject({ held: ['slow', 'other'], slow: ['slow'], queue: ['again'] });
  release('other');
  expect(view()).toMatchObject({ held: ['slow'], queue: ['again'], behind: [['the work of slow']] });
  ask('later', 'two');
  expect(view().held).toEqual(['slow', 'later']);

  release('later');
  release('slow');
  expect(view()).toEqual({ capacity: 1, held: ['again'], queue: [] });
});

test('a limiter queues a request behind slow holders of its origin after those that may pass, and shows what each waits for', () => {
  const { ports, ask, view } = limiterWithTimeLimit(1);
  ask('slow', 'one');
  ask('again', 'one');
  ports.advance(10_000);
  ask('other', 'two');
  ask('third', 'three');
  expect(view()).toEqual({
    capacity: 1,
    held: ['slow', 'other'],
    slow: ['slow'],
    queue: ['third', 'again'],
    behind: [['the work of other'], ['the work of slow', 'the work of other']],
  });
});

test('a limiter has no slow holders while slots are released in time', () => {
  const { ports, ask, release, view } = limiterWithTimeLimit(2);
  for (const key of ['a', 'b', 'c', 'd']) ask(key, key);
  for (const key of ['b', 'c']) {
    ports.advance(9_000);
    release(key);
  }
  ports.advance(9_000);
  expect(view()).toEqual({ capacity: 2, held: ['a', 'd'], queue: [] });
  ports.advance(1_000);
  expect(view().slow).toEqual(['a', 'd']);
});

test('a limiter has no slow holders without a time limit', () => {
  const of = limiter(1);
  const { holder } = asker<SlotGranted>(of);
  for (const key of ['a', 'b'])
    of.send({ type: 'slot.request', purpose: 'a start', key, arrivalOrder: 1, holder, origin: key });
  of.send({ type: 'timer.elapsed' });
  expect([of.getSnapshot().value, limiterView(of)]).toMatchObject(['full', { held: ['a'], queue: ['b'] }]);
});

test('a limiter never exceeds its capacity in regular holders or per origin, and grants every possible slot', () => {
  const key = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), origin: fc.constantFrom('one', 'two') });
  const step = fc.oneof(
    fc.record({ type: fc.constant('ask' as const), of: key }),
    fc.record({ type: fc.constant('release' as const), of: key }),
    fc.record({ type: fc.constant('wait' as const), of: key }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
      const { of, ports, ask, release } = limiterWithTimeLimit(capacity);
      for (const { type, of: asked } of steps) {
        const name = `${asked.origin}/${asked.key}`;
        if (type === 'ask') ask(name, asked.origin);
        else if (type === 'release') release(name);
        else ports.advance(10_000);
        const { heldSlots, queue } = of.getSnapshot().context;
        const inTime = heldSlots.filter(({ isSlow }) => !isSlow).length;
        const ofOrigin = (origin: string | undefined) => heldSlots.filter((each) => each.origin === origin).length;
        expect(inTime).toBeLessThanOrEqual(capacity);
        for (const { origin } of heldSlots) expect(ofOrigin(origin)).toBeLessThanOrEqual(capacity);
        for (const { origin } of queue) expect(inTime === capacity || ofOrigin(origin) === capacity).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
