import { expect, test } from '@jest/globals';
import { WaitingEvents } from '../../../actors/events/waitingEvents.ts';
import { coreEvent } from '../../../kubernetes/events/event.ts';
import {
  type EventMessage,
  type InvolvedObject,
  recordedEvent,
  warning,
} from '../../../kubernetes/events/recordedEvent.ts';

const POD: InvolvedObject = { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: 'u' };
const STARTED: EventMessage = { reason: 'Started', message: 'Container started' };
const UNHEALTHY = warning('Unhealthy', 'Readiness probe failed');

const event = (name: string, message = STARTED, count = 1) =>
  coreEvent(recordedEvent(POD, message), { host: 'node-1', at: count, firstAt: 1, count, name });

/** Takes all events that may be sent at a time, and returns their names. */
function allOf(waiting: WaitingEvents, now: number, yields: boolean): string[] {
  const next = waiting.next(now, yields);
  return next === undefined ? [] : [next.event.metadata.name, ...allOf(waiting, now, yields)];
}

test('waiting events are sent in order, but Warning events first', () => {
  const waiting = new WaitingEvents();
  const all = [event('a'), event('b', UNHEALTHY), event('c'), event('d', UNHEALTHY)];
  expect(all.map((each) => waiting.add(each, 0))).toEqual([true, true, true, true]);
  expect(waiting.size).toBe(4);
  expect(allOf(waiting, 0, false)).toEqual(['b', 'd', 'a', 'c']);
  expect([waiting.size, waiting.next(0, false)]).toEqual([0, undefined]);
});

test('C36: a Normal event is deferred for at most thirty seconds, and a Warning event not at all', () => {
  const waiting = new WaitingEvents();
  waiting.add(event('a'), 1_000);
  waiting.add(event('b', UNHEALTHY), 1_000);
  waiting.add(event('c'), 2_000);
  expect(allOf(waiting, 30_999, true)).toEqual(['b']);
  expect(waiting.remainingYieldMs(30_999)).toBe(1);
  expect(allOf(waiting, 31_000, true)).toEqual(['a']);
  expect([waiting.size, waiting.remainingYieldMs(31_000)]).toEqual([1, 1_000]);
  expect(allOf(waiting, 31_000, false)).toEqual(['c']);
  expect(waiting.remainingYieldMs(31_000)).toBe(0);
});

test('a recurring event retains its position and queue time, and counts as new until the server has it', () => {
  const waiting = new WaitingEvents();
  for (const each of [event('a'), event('b', STARTED, 7), event('a', STARTED, 2)]) waiting.add(each, each.count * 10);
  expect(waiting.size).toBe(2);
  expect(waiting.next(100, false)).toMatchObject({ isNew: true, queuedAtMs: 10, event: { count: 2 } });
  expect(waiting.next(100, false)).toMatchObject({ isNew: false, queuedAtMs: 70, event: { count: 7 } });
});

/** Returns a queue with `count` Normal events, which are named `n1` and so on. */
function normal(count: number): WaitingEvents {
  const waiting = new WaitingEvents();
  for (let number = 1; number <= count; number += 1) expect(waiting.add(event(`n${number}`), 0)).toBe(true);
  return waiting;
}

test('C36: at most half of the queue is for deferred events', () => {
  const waiting = normal(502);
  expect(waiting.remainingYieldMs(0)).toBe(0);
  expect(allOf(waiting, 0, true)).toEqual(['n1', 'n2']);
  expect([waiting.size, waiting.remainingYieldMs(0)]).toEqual([500, 30_000]);
});

test('C36: in a full queue a Warning replaces the newest Normal event, and a recurring event retains its position', () => {
  const waiting = normal(1_000);
  expect(waiting.add(event('n1001'), 0)).toBe(false);
  expect(waiting.add(event('n1000', STARTED, 2), 0)).toBe(true);
  expect(waiting.add(event('w1', UNHEALTHY), 0)).toBe(false);
  expect(waiting.size).toBe(1_000);
  const all = allOf(waiting, 0, false);
  expect([all[0], all[1], all.at(-1)]).toEqual(['w1', 'n1', 'n999']);
});

test('C36: a queue full of Warning events accepts no further one', () => {
  const waiting = new WaitingEvents();
  for (let number = 1; number <= 1_000; number += 1) waiting.add(event(`w${number}`, UNHEALTHY), 0);
  expect(waiting.add(event('w1001', UNHEALTHY), 0)).toBe(false);
  expect([waiting.size, allOf(waiting, 0, false).at(-1)]).toEqual([1_000, 'w1000']);
});

test('a Normal event that has waited long enough is sent, however many Warning events arrive', () => {
  const waiting = new WaitingEvents();
  waiting.add(event('a'), 0);
  waiting.add(event('w1', UNHEALTHY), 1);
  waiting.add(event('w2', UNHEALTHY), 2);
  expect(waiting.next(29_999, true)?.event.metadata.name).toBe('w1');
  expect(allOf(waiting, 30_000, true)).toEqual(['a', 'w2']);
});
