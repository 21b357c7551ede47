import { describe, expect, test } from '@jest/globals';
import { createCorrelator } from '../../../actors/events/eventCorrelator.ts';
import { createEventRecorder, type EventChange } from '../../../actors/events/eventRecorder.ts';
import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

const newEvent = (message: string, reason = 'Started', name = 'web'): RecordedEvent => ({
  type: 'event.recorded',
  eventType: 'Normal',
  reason,
  message,
  involved: { kind: 'Pod', apiVersion: 'v1', namespace: 'shop', name, uid: `${name}-uid` },
});

describe('the event correlator', () => {
  test('increments the count of a repeated event, and preserves its first timestamp', () => {
    const correlate = createCorrelator();
    correlate(newEvent('a'), START);
    expect(correlate(newEvent('a'), START + MINUTE)).toMatchObject({ count: 2, firstAt: START });
    expect(correlate(newEvent('b'), START + MINUTE)).toMatchObject({ count: 1, firstAt: START + MINUTE });
    expect(correlate(newEvent('a', 'Failed'), START)).toMatchObject({ count: 1 });
    expect(correlate(newEvent('a', 'Started', 'other'), START)).toMatchObject({ count: 1 });
  });

  test('combines events with the same reason from the tenth different message within 10 min on', () => {
    const correlate = createCorrelator();
    const all = Array.from({ length: 12 }, (_, index) => correlate(newEvent(`message ${index}`), START + index));
    expect(all.slice(0, 9).map((each) => each?.recordedEvent.message)).toEqual(
      Array.from({ length: 9 }, (_, index) => `message ${index}`),
    );
    expect(all.slice(9)).toMatchObject([
      { count: 1, recordedEvent: { message: '(combined from similar events): message 9' } },
      { count: 2, recordedEvent: { message: '(combined from similar events): message 10' } },
      { count: 3, recordedEvent: { message: '(combined from similar events): message 11' } },
    ]);
    expect(correlate(newEvent('message 3'), START + MINUTE)).toMatchObject({
      count: 2,
      recordedEvent: newEvent('message 3'),
    });
    expect(correlate(newEvent('late'), START + 12 * MINUTE)?.recordedEvent.message).toBe('late');
  });

  test('limits an object to a burst of 25 events and then one every 5 min, and counts suppressed events', () => {
    const correlate = createCorrelator();
    const received = Array.from({ length: 30 }, () => correlate(newEvent('a'), START)).filter(
      (each) => each !== undefined,
    );
    expect(received).toHaveLength(25);
    expect(correlate(newEvent('a'), START + 4 * MINUTE)).toBeUndefined();
    expect(correlate(newEvent('a'), START + 5 * MINUTE)).toMatchObject({ count: 32 });
    expect(correlate(newEvent('a'), START + 5 * MINUTE)).toBeUndefined();
    expect(correlate(newEvent('a', 'Started', 'other'), START)).toMatchObject({ count: 1 });
  });

  test('C36: does not charge failed probes to the budget for Normal events', () => {
    const correlate = createCorrelator();
    const failed: RecordedEvent = { ...newEvent('Liveness probe failed', 'Unhealthy'), eventType: 'Warning' };
    const published = Array.from({ length: 30 }, () => correlate(failed, START)).filter((each) => each !== undefined);
    expect(published).toHaveLength(25);
    expect(correlate(newEvent('Stopping container web', 'Killing'), START)).toMatchObject({ count: 1 });
    const normal = Array.from({ length: 30 }, () => correlate(newEvent('a'), START)).filter(
      (each) => each !== undefined,
    );
    expect(normal).toHaveLength(24);
    expect(correlate(failed, START + 5 * MINUTE)).toMatchObject({ count: 31 });
  });
});

describe('the event recorder', () => {
  const recorder = (now = START) => createEventRecorder('host', () => now);

  test('creates core/v1 Events', () => {
    const { record, events } = recorder();
    record({ ...newEvent('a'), at: START });
    record({ ...newEvent('a'), at: START + 61_000 });
    expect(events()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: {
          name: expect.stringMatching(/^web\.[0-9a-f]{16}$/),
          namespace: 'shop',
          creationTimestamp: '2026-01-01T00:00:00Z',
        },
        involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'shop', name: 'web', uid: 'web-uid' },
        reason: 'Started',
        message: 'a',
        source: { component: 'kubelet', host: 'host' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:01:01Z',
        count: 2,
        type: 'Normal',
        reportingComponent: 'kubelet',
        reportingInstance: 'host',
      },
    ]);
  });

  test('assigns distinct names to simultaneous events, and puts events of the node into the namespace default', () => {
    const { record, events } = recorder();
    record({ ...newEvent('a'), at: START });
    record({ ...newEvent('b'), at: START });
    record({ ...newEvent('c'), involved: { kind: 'Node', name: 'host', uid: 'host' }, at: START });
    expect(new Set(events().map(({ metadata }) => metadata.name)).size).toBe(3);
    expect(events().at(-1)?.metadata).toMatchObject({
      name: expect.stringMatching(/^host\./),
      namespace: 'default',
    });
  });

  test('lists the latest event last, and notifies subscribers of each event', () => {
    const { record, events, subscribe } = recorder();
    const received: EventChange[] = [];
    const end = subscribe((change) => void received.push(change));
    for (const message of ['a', 'b', 'a']) record({ ...newEvent(message), at: START });
    expect(events().map(({ message }) => message)).toEqual(['b', 'a']);
    expect(received.map(({ event }) => `${event.message}${event.count}`)).toEqual(['a1', 'b1', 'a2']);
    end();
    record({ ...newEvent('c'), at: START });
    expect(received).toHaveLength(3);
  });

  test('forgets an event that has not recurred for an hour', () => {
    const { record, events, subscribe } = recorder(START + 59 * MINUTE);
    const gone: string[] = [];
    subscribe(({ event, removed }) => void (removed && gone.push(event.message)));
    record({ ...newEvent('a'), at: START });
    record({ ...newEvent('b'), at: START + 50 * MINUTE });
    expect(events()).toHaveLength(2);
    record({ ...newEvent('c'), at: START + 61 * MINUTE });
    expect(gone).toEqual(['a']);
    expect(events().map(({ message }) => message)).toEqual(['b', 'c']);
  });

  test('drops the oldest of more than 4096 events', () => {
    const { record, events } = recorder();
    for (let index = 0; index < 5_000; index += 1) record({ ...newEvent('a', 'Started', `pod-${index}`), at: START });
    expect(events()).toHaveLength(4_096);
    expect(events()[0]?.involvedObject.name).toBe('pod-904');
  });
});
