import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createActor } from 'xstate';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import type { SlotRequest } from '../../../machines/shared/events/slots.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { queueOf, START } from '../support/stand.ts';

const SLOW_AFTER_MS = 10_000;

/** A limiter that answers every question by a scan of all its requests. */
class ScanningLimiter {
  readonly capacity: number;
  held: (SlotRequest & { isSlow?: boolean })[] = [];
  queue: SlotRequest[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  request(request: SlotRequest) {
    if ([...this.held, ...this.queue].some(({ key }) => key === request.key)) return;
    this.queue = [...this.queue, request].toSorted((first, second) => first.arrivalOrder - second.arrivalOrder);
    this.#grant();
  }

  remove(isRemoved: (key: string) => boolean) {
    this.held = this.held.filter(({ key }) => !isRemoved(key));
    this.queue = this.queue.filter(({ key }) => !isRemoved(key));
    this.#grant();
  }

  isFull = () => this.held.filter(({ isSlow }) => !isSlow).length >= this.capacity;

  markSlow() {
    for (const slot of this.held) slot.isSlow = true;
    this.#grant();
  }

  #grant() {
    while (!this.isFull()) {
      const next = this.queue.find(
        ({ origin, subject }) =>
          this.held.filter((slot) => slot.origin === origin).length < this.capacity &&
          !this.held.some((slot) => subject !== undefined && slot.subject === subject),
      );
      if (next === undefined) return;
      this.queue = this.queue.filter((each) => each !== next);
      this.held.push({ ...next });
    }
  }

  keys = () => ({ held: this.held.map(({ key }) => key), queue: this.queue.map(({ key }) => key) });
}

test('a limiter grants the slots that a scan of all requests would grant, also once it is restored', () => {
  const pod = fc.constantFrom('a', 'a/b', 'c', 'd');
  const key = fc.tuple(pod, fc.constantFrom('v', 'w', 'x', 'y', 'z')).map((parts) => parts.join('/'));
  const request = fc.record(
    {
      key,
      arrivalOrder: fc.integer({ min: 1, max: 2 }),
      origin: fc.constantFrom('one', 'two'),
      subject: fc.constantFrom('app:1', 'app:2'),
    },
    { requiredKeys: ['key', 'arrivalOrder'] },
  );
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('request' as const), request }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('release' as const), index: fc.nat({ max: 5 }) }) },
    fc.record({ kind: fc.constant('forget' as const), uid: pod }),
    fc.record({ kind: fc.constantFrom('wait' as const, 'restore' as const) }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
      const ports = new FakePorts(START);
      const machine = provideActors(limiterMachine, ports);
      const input = { capacity, slowAfterMs: SLOW_AFTER_MS };
      let actor = createActor(machine, { input }).start();
      const scanning = new ScanningLimiter(capacity);
      for (const each of steps) {
        if (each.kind === 'request') {
          const slotRequest = { holder: ['nobody'], purpose: 'a start', ...each.request };
          actor.send({ type: 'slot.request', ...slotRequest });
          scanning.request(slotRequest);
        } else if (each.kind === 'release') {
          const keys = [...scanning.held, ...scanning.queue].map((slot) => slot.key);
          const releasedKey = keys[each.index] ?? 'unknown';
          actor.send({ type: 'slot.release', key: releasedKey });
          scanning.remove((other) => other === releasedKey);
        } else if (each.kind === 'forget') {
          actor.send({ type: 'slot.forget', uid: each.uid });
          scanning.remove((other) => other.startsWith(`${each.uid}/`));
        } else if (each.kind === 'wait') {
          ports.advance(SLOW_AFTER_MS);
          if (scanning.isFull()) scanning.markSlow();
        } else {
          const snapshot = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
          actor.stop();
          actor = createActor(machine, { input, snapshot }).start();
        }
        expect(queueOf(actor)).toEqual(scanning.keys());
      }
      actor.stop();
    }),
    { numRuns: 200 },
  );
});

test.each([
  { waiting: 'a later pod', blocked: ['a/y'], queue: ['a/y a', 'b/z b', 'c/z a'], next: 'b/z' },
  { waiting: 'an earlier pod', blocked: ['a/y', 'b/y'], queue: ['a/y a', 'b/y b', 'c/z a', 'd/z b'], next: 'c/z' },
])('the next slot goes to the first request that is not blocked, behind blocked ones of $waiting', (story) => {
  const actor = createActor(limiterMachine, { input: { capacity: 3 } }).start();
  const send = (key: string, origin: string, arrivalOrder: number, subject?: string) =>
    actor.send({
      type: 'slot.request',
      key,
      origin,
      arrivalOrder,
      holder: ['nobody'],
      purpose: 'a pull',
      ...(subject === undefined ? {} : { subject }),
    });
  send('a/x', 'a', 1, 'image of a');
  send('b/x', 'b', 2, 'image of b');
  send('e/x', 'e', 5);
  for (const [index, entry] of story.queue.entries()) {
    const [key = '', origin = ''] = entry.split(' ');
    send(key, origin, index + 1, story.blocked.includes(key) ? `image of ${origin}` : undefined);
  }
  actor.send({ type: 'slot.release', key: 'e/x' });
  expect(queueOf(actor).held).toEqual(['a/x', 'b/x', story.next]);
  actor.stop();
});
