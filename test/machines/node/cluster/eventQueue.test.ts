import { expect, test } from '@jest/globals';
import {
  eventQueueView,
  idleQueue,
  nextQueueState,
  sendingState,
} from '../../../../machines/node/cluster/eventQueue.ts';

const waiting = nextQueueState(idleQueue(500), {
  now: 1_000,
  waitingCount: 3,
  droppedCount: 0,
  until: 6_000,
  failure: 'ECONNREFUSED',
});

test('the event queue is empty without a report', () => {
  expect(eventQueueView(idleQueue(500))).toEqual({
    kind: 'event queue',
    name: 'api',
    path: 'watches/events',
    state: 'idle',
    tags: ['steady'],
    since: 500,
    facts: [],
  });
});

test('the event queue shows how many events wait, until when and why, if the server does not respond', () => {
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

test('the event queue remains failing after its wait until the event is accepted', () => {
  const view = eventQueueView(sendingState(waiting));
  expect(view).toMatchObject({
    state: 'failing',
    tags: ['retrying'],
    since: 1_000,
    waitingFor: 'an event to be accepted',
  });
  expect(view).not.toHaveProperty('until');
});

test('the event queue shows how many events yield to pods, and until when at the latest', () => {
  const yielding = nextQueueState(idleQueue(500), { now: 1_000, waitingCount: 2, droppedCount: 0, until: 31_000 });
  expect(eventQueueView(yielding)).toMatchObject({
    state: 'yielding',
    tags: ['waiting'],
    since: 1_000,
    until: 31_000,
    facts: ['2 events to send'],
    waitingFor: 'pods that are waiting to start, which go first',
  });
  expect(nextQueueState(yielding, { now: 1_500, waitingCount: 3, droppedCount: 0, until: 31_000 }).since).toBe(1_000);
  expect(nextQueueState(yielding, { now: 2_000, waitingCount: 1, droppedCount: 0 })).toEqual({
    since: 2_000,
    waitingCount: 1,
    droppedCount: 0,
  });
});

test('the event queue retains the start of its state and the number of dropped events', () => {
  const longer = nextQueueState(waiting, {
    now: 6_000,
    waitingCount: 1_000,
    droppedCount: 7,
    until: 16_000,
    failure: 'ECONNRESET',
  });
  expect(longer).toMatchObject({ since: 1_000, failure: { message: 'ECONNRESET', at: 6_000 } });
  expect(eventQueueView(longer).facts).toEqual(['1000 events to send', '7 dropped']);
  const again = nextQueueState(longer, { now: 16_000, waitingCount: 1, droppedCount: 7 });
  expect(again).toEqual({ since: 16_000, waitingCount: 1, droppedCount: 7 });
  expect(eventQueueView(again)).toMatchObject({ state: 'sending', facts: ['1 event to send', '7 dropped'] });
});
