import { expect, test } from '@jest/globals';
import { coreEvent } from '../../../kubernetes/events/event.ts';
import { eventAge, eventTable } from '../../../kubernetes/events/eventTable.ts';
import { recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { NOW } from '../views.ts';

const involved = { kind: 'Pod' as const, namespace: 'shop', name: 'web', uid: 'u', fieldPath: 'spec.containers{app}' };
const event = (count: number) =>
  coreEvent(recordedEvent(involved, { eventType: 'Warning', reason: 'BackOff', message: 'Back-off ' }), {
    host: 'node',
    name: 'web.1',
    count,
    at: NOW - 5_000,
    firstAt: NOW - 180_000,
  });

test('the table of events has the columns of kubectl, and more of them if it is wide', () => {
  expect(eventTable([event(3)], { wide: false, now: NOW })).toEqual([
    ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
    ['5s', 'Warning', 'BackOff', 'pod/web', 'Back-off'],
  ]);
  expect(eventTable([event(3)], { wide: true, now: NOW })).toEqual([
    ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'SUBOBJECT', 'SOURCE', 'MESSAGE', 'FIRST SEEN', 'COUNT', 'NAME'],
    ['5s', 'Warning', 'BackOff', 'pod/web', 'spec.containers{app}', 'kubelet, node', 'Back-off', '3m', '3', 'web.1'],
  ]);
});

test('the table of events shows the count and the first time of a repeated event', () => {
  expect(eventAge(event(3), NOW)).toBe('5s (x3 over 3m)');
  expect(eventAge(event(1), NOW)).toBe('3m');
});
