import { expect, test } from '@jest/globals';
import { eventQueueView, nextQueue, quietQueue, whileTrying } from '../../../machines/node/eventQueue.ts';

const waiting = nextQueue(quietQueue(500), {
  now: 1_000,
  waiting: 3,
  dropped: 0,
  until: 6_000,
  failure: 'ECONNREFUSED',
});

test('a queue of which nothing was told is empty', () => {
  expect(eventQueueView(quietQueue(500))).toEqual({
    kind: 'event queue',
    name: 'api',
    path: 'watches/events',
    state: 'idle',
    tags: ['steady'],
    since: 500,
    facts: [],
  });
});

test('one whose server does not answer says how many events wait, until when and why', () => {
  expect(eventQueueView(waiting)).toMatchObject({
    state: 'failing',
    tags: ['retrying'],
    since: 1_000,
    until: 6_000,
    facts: ['3 events to send'],
    waitingFor: 'another attempt to send events',
    lastFailure: { reason: 'EventNotSent', message: 'ECONNREFUSED', at: 1_000 },
  });
});

test('one whose wait is over fails on until the event is taken', () => {
  const view = eventQueueView(whileTrying(waiting));
  expect(view).toMatchObject({
    state: 'failing',
    tags: ['retrying'],
    since: 1_000,
    waitingFor: 'an event to be taken',
  });
  expect(view).not.toHaveProperty('until');
});

test('one that gives way to pods says how many events wait, for what and until when at the latest', () => {
  const yielding = nextQueue(quietQueue(500), { now: 1_000, waiting: 2, dropped: 0, until: 31_000 });
  expect(eventQueueView(yielding)).toMatchObject({
    state: 'yielding',
    tags: ['waiting'],
    since: 1_000,
    until: 31_000,
    facts: ['2 events to send'],
    waitingFor: 'pods that wait to be started, which go first',
  });
  expect(nextQueue(yielding, { now: 1_500, waiting: 3, dropped: 0, until: 31_000 }).since).toBe(1_000);
  expect(nextQueue(yielding, { now: 2_000, waiting: 1, dropped: 0 })).toEqual({ since: 2_000, waiting: 1, dropped: 0 });
});

test('it waits since it first had to, and sends since it could again; what was dropped is not forgotten', () => {
  const longer = nextQueue(waiting, { now: 6_000, waiting: 1_000, dropped: 7, until: 16_000, failure: 'ECONNRESET' });
  expect(longer).toMatchObject({ since: 1_000, failure: { message: 'ECONNRESET', at: 6_000 } });
  expect(eventQueueView(longer).facts).toEqual(['1000 events to send', '7 dropped']);
  const again = nextQueue(longer, { now: 16_000, waiting: 1, dropped: 7 });
  expect(again).toEqual({ since: 16_000, waiting: 1, dropped: 7 });
  expect(eventQueueView(again)).toMatchObject({ state: 'sending', facts: ['1 event to send', '7 dropped'] });
});
