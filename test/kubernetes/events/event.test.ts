import { expect, test } from '@jest/globals';
import { coreEvent, eventName } from '../../../kubernetes/events/event.ts';
import { recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';

const AT = Date.UTC(2026, 0, 31);
const about = (name: string) => ({ kind: 'Pod', apiVersion: 'v1', name, uid: 'u1' }) as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('C28: an event has annotations only if it was recorded with some', () => {
  const details = { host: 'node-1', at: AT, firstAt: AT, count: 1, name: 'web.1' };
  const annotations = { starved_resource: 'memory' };
  const message = { eventType: 'Warning', reason: 'Evicted', message: 'low', annotations } as const;
  expect(coreEvent(recordedEvent(about('web'), message), details).metadata.annotations).toEqual(annotations);
  const { annotations: _, ...plain } = message;
  expect(coreEvent(recordedEvent(about('web'), plain), details).metadata).not.toHaveProperty('annotations');
});

test('an event has the name of its object, with its time and number in hex', () => {
  expect(eventName(about('web'), AT, 5)).toBe(`web.${(BigInt(AT) * 1_000_000n + 5n).toString(16)}`);
});

test('an event has a UUID as its name if an API server would reject the name of its object with a suffix', () => {
  const longest = 'p'.repeat(253 - eventName(about('p'), AT, 5).length + 1);
  expect(eventName(about(longest), AT, 5)).toHaveLength(253);
  for (const name of [`${longest}p`, 'Node_1', 'web-', '-web', '']) {
    const ids = [1, 2].map((number) => eventName(about(name), AT, number));
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(new Set(ids).size).toBe(2);
    expect(eventName(about(name), AT, 1)).toBe(ids[0]);
  }
});
