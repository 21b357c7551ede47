import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SlotGranted } from '../../../machines/shared/events/slots.ts';
import { limiterView } from '../../../machines/shared/views/views.ts';
import { asker, limiter, queueOf } from '../support/stand.ts';

/** Requests a slot under a key. `granted` returns the number of grants so far. */
function asks(of: ReturnType<typeof limiter>, key: string, arrivalOrder: number) {
  const { holder, heard } = asker<SlotGranted>(of);
  of.send({ type: 'slot.request', purpose: 'a start', key, arrivalOrder, holder });
  return {
    granted: () => heard().length,
    ask: () => of.send({ type: 'slot.request', purpose: 'a start', key, arrivalOrder, holder }),
  };
}

test('a limiter grants its capacity at once, and the next slot when one is released', () => {
  const of = limiter(2);
  const [first, second, third] = ['a/x', 'b/x', 'c/x'].map((key, index) => asks(of, key, index));
  expect([first?.granted(), second?.granted(), third?.granted()]).toEqual([1, 1, 0]);
  expect(of.getSnapshot().value).toBe('full');
  of.send({ type: 'slot.release', key: 'a/x' });
  expect(third?.granted()).toBe(1);
  of.send({ type: 'slot.release', key: 'b/x' });
  of.send({ type: 'slot.release', key: 'c/x' });
  expect(queueOf(of)).toEqual({ held: [], queue: [] });
  expect(of.getSnapshot().value).toBe('open');
});

test('a limiter serves all requests of an earlier pod before those of later pods, in their own order', () => {
  const of = limiter(1);
  asks(of, 'pod-5/x', 5);
  asks(of, 'pod-9/x', 9);
  asks(of, 'pod-7/x', 7);
  asks(of, 'pod-2/x', 2);
  asks(of, 'pod-7/y', 7);
  expect(queueOf(of)).toEqual({ held: ['pod-5/x'], queue: ['pod-2/x', 'pod-7/x', 'pod-7/y', 'pod-9/x'] });
});

test('a limiter counts a repeated request once, whether it holds a slot or waits', () => {
  const of = limiter(1);
  const holder = asks(of, 'a/x', 1);
  const waiter = asks(of, 'b/x', 2);
  holder.ask();
  waiter.ask();
  expect(queueOf(of)).toEqual({ held: ['a/x'], queue: ['b/x'] });
  expect([holder.granted(), waiter.granted()]).toEqual([1, 0]);
});

test('a limiter does not grant to a request that left the queue, and ignores an unknown release', () => {
  const of = limiter(1);
  asks(of, 'a/x', 1);
  const leaver = asks(of, 'b/x', 2);
  const next = asks(of, 'c/x', 3);
  of.send({ type: 'slot.release', key: 'b/x' });
  of.send({ type: 'slot.release', key: 'nobody' });
  of.send({ type: 'slot.release', key: 'a/x' });
  expect([leaver.granted(), next.granted()]).toEqual([0, 1]);
});

test('a limiter serves one request per subject at a time while others pass, and reports which ones had to wait', () => {
  const of = limiter(3);
  const { holder, heard } = asker<SlotGranted>(of);
  const ask = (key: string, subject: { readonly subject?: string } = {}) =>
    of.send({ type: 'slot.request', key, arrivalOrder: 1, holder, purpose: `the pull for ${key}`, ...subject });
  for (const key of ['a/x', 'a/y', 'a/z']) ask(key, { subject: 'app:1' });
  ask('b/x', { subject: 'app:2' });
  ask('b/y');
  expect(limiterView(of)).toEqual({
    capacity: 3,
    held: ['a/x', 'b/x', 'b/y'],
    queue: ['a/y', 'a/z'],
    behind: [['the pull for a/x'], ['the pull for a/x']],
  });
  of.send({ type: 'slot.release', key: 'a/x' });
  expect(queueOf(of)).toEqual({ held: ['b/x', 'b/y', 'a/y'], queue: ['a/z'] });
  expect(heard().filter(({ hasWaited }) => hasWaited)).toEqual([{ type: 'slot.granted', key: 'a/y', hasWaited: true }]);
});

test('a limiter releases all slots and requests of a pod that is gone, and of no other', () => {
  const of = limiter(2);
  asks(of, 'a/x', 1);
  asks(of, 'ab/x', 2);
  asks(of, 'a/y', 1);
  const next = asks(of, 'c/x', 3);
  of.send({ type: 'slot.forget', uid: 'a' });
  expect(queueOf(of)).toEqual({ held: ['ab/x', 'c/x'], queue: [] });
  expect(next.granted()).toBe(1);
});

test('a limiter never exceeds its capacity, leaves no slot free while a request waits, and forgets no request', () => {
  const key = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('x', 'y', 'z'));
  const step = fc.oneof(
    fc.record({ type: fc.constant('request' as const), key }),
    fc.record({ type: fc.constant('release' as const), key }),
    fc.record({ type: fc.constant('forget' as const), key }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
      const of = limiter(capacity);
      const { holder, heard } = asker<SlotGranted>(of);
      const asking = new Set<string>();
      for (const {
        type,
        key: [uid, part],
      } of steps) {
        const name = `${uid}/${part}`;
        const arrivalOrder = uid.charCodeAt(0);
        if (type === 'request') asking.add(name);
        else
          for (const each of asking) if (type === 'release' ? each === name : each.startsWith(uid)) asking.delete(each);
        if (type === 'request') of.send({ type: 'slot.request', purpose: 'a start', key: name, arrivalOrder, holder });
        else of.send(type === 'release' ? { type: 'slot.release', key: name } : { type: 'slot.forget', uid });
        const { held, queue } = queueOf(of);
        expect([...held, ...queue].sort()).toEqual([...asking].sort());
        expect(held.length).toBe(Math.min(capacity, asking.size));
        expect(queue.map((each) => each.charAt(0)).join('')).toMatch(/^a*b*c*d*$/);
        expect(heard().map((event) => event.key)).toEqual(expect.arrayContaining(held));
      }
    }),
    { numRuns: 200 },
  );
});
