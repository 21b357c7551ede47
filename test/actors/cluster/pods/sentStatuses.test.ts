import { expect, test } from '@jest/globals';
import { SentStatuses } from '../../../../actors/cluster/pods/sentStatuses.ts';
import type { StatusReport } from '../../../../actors/status/statusReports.ts';

const report = (more: Partial<StatusReport> = {}): StatusReport => ({
  uid: 'u',
  namespace: 'default',
  name: 'web',
  ended: false,
  status: { phase: 'Running' },
  ...more,
});
/** As servers write them. */
const ready = (status: string) => ({ type: 'Ready', status, lastProbeTime: null });
const seen = (version: number, status: object, uid = 'u') => ({
  metadata: { uid, resourceVersion: String(version) },
  status: { phase: 'Running', ...status },
});

function toldReady() {
  const told = new SentStatuses();
  told.record(report(), seen(10, { conditions: [ready('True')] }));
  return told;
}

test('what others make of what the node says is found, once', () => {
  const told = toldReady();
  expect(told.isCurrent(report())).toBe(true);
  expect(told.findEdited([seen(11, { conditions: [ready('False')] })])).toEqual(['u']);
  expect(told.isCurrent(report())).toBe(false);
  expect(told.findEdited([seen(12, { conditions: [ready('False')] })])).toEqual([]);
  told.record(report(), seen(13, { conditions: [ready('True')] }));
  expect(told.findEdited([seen(14, { conditions: [ready('False')] })])).toEqual(['u']);
});

test('what others say themselves is no news', () => {
  const others = { conditions: [ready('True'), { type: 'example.com/gate', status: 'True' }], qosClass: 'Burstable' };
  expect(toldReady().findEdited([seen(11, others)])).toEqual([]);
});

test('an answer that comes before what the watch tells of earlier ones is not doubted', () => {
  expect(toldReady().findEdited([seen(9, { conditions: [ready('False')] })])).toEqual([]);
});

test('a pod that has not changed since it was looked at is not read again', () => {
  const told = toldReady();
  let reads = 0;
  const object = {
    ...seen(11, {}),
    get status() {
      reads += 1;
      return { phase: 'Running', conditions: [ready('True')] };
    },
  };
  expect(told.findEdited([object])).toEqual([]);
  const first = reads;
  expect(first).toBeGreaterThan(0);
  expect(told.findEdited([object])).toEqual([]);
  expect(told.latestVersion('u', object)).toMatchObject({ metadata: { resourceVersion: '11' } });
  expect(reads).toBe(first);
});

test('what the server never kept is not missed', () => {
  const told = new SentStatuses();
  told.record(report({ status: { phase: 'Running', observedGeneration: 2 } }), seen(10, {}));
  expect(told.findEdited([seen(11, {})])).toEqual([]);
  expect(told.isCurrent(report({ status: { phase: 'Running', observedGeneration: 2 } }))).toBe(true);
});

test('another status, another end and another pod were not told', () => {
  const told = toldReady();
  expect(told.isCurrent(report({ status: { phase: 'Failed' } }))).toBe(false);
  expect(told.isCurrent(report({ ended: true }))).toBe(false);
  expect(told.isCurrent(report({ uid: 'v' }))).toBe(false);
});

test('what a mirror was told is found by the UID of its pod', () => {
  const told = new SentStatuses();
  told.record(report({ isStatic: true }), seen(10, {}, 'mirror'));
  expect(told.isCurrent(report({ isStatic: true }))).toBe(true);
  expect(told.isCurrent(report({ isStatic: true, uid: 'mirror' }))).toBe(false);
});

test('of a pod that has gone nothing is remembered', () => {
  const told = toldReady();
  expect(told.findEdited([])).toEqual([]);
  expect(told.isCurrent(report())).toBe(false);
});

test('nor of one in whose place others stand', () => {
  const told = toldReady();
  expect(told.findEdited([seen(1, {}, 'v'), seen(1, {}, 'w')])).toEqual([]);
  expect(told.isCurrent(report())).toBe(false);
});

test('the status of a mirror is that of its pod', () => {
  const told = new SentStatuses();
  told.record(report({ isStatic: true }), seen(10, { conditions: [ready('True')] }, 'mirror'));
  expect(told.findEdited([seen(11, { conditions: [ready('False')] }, 'mirror')])).toEqual(['u']);
});
