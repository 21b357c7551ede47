import { expect, test } from '@jest/globals';
import { gracefulDeletion } from '../../../../testing/apiserver/deletion/grace.ts';
import type { JsonObject } from '../../../../testing/apiserver/json.ts';
import { withMetadata } from '../../../../testing/apiserver/store/metadata.ts';

const NOW = Date.parse('2026-01-01T00:00:00.700Z');
const SPEC = { nodeName: 'node1', terminationGracePeriodSeconds: 30 };
const POD = { metadata: { name: 'a', generation: 1 }, spec: SPEC, status: { phase: 'Running' } };
const DELETED = withMetadata(POD, {
  deletionTimestamp: '2026-01-01T00:00:30Z',
  deletionGracePeriodSeconds: 30,
  generation: 2,
});

/** The deletion that a pod is written with. */
function later(pod: JsonObject, asked?: number, now = NOW) {
  const deletion = gracefulDeletion(pod, asked, now);
  return deletion.when === 'later' ? deletion.object.metadata : deletion.when;
}

test('a deleted pod on a node gets its own grace period and a new generation', () => {
  expect(later(POD)).toEqual({
    name: 'a',
    generation: 2,
    deletionTimestamp: '2026-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
  });
});

test.each([
  [5, '2026-01-01T00:00:05Z', 5],
  [60, '2026-01-01T00:01:00Z', 60],
  [-3, '2026-01-01T00:00:01Z', 1],
  [0, '2026-01-01T00:00:00Z', 0],
])('a client may request a grace period of %d s', (asked, deletionTimestamp, deletionGracePeriodSeconds) => {
  expect(later(POD, asked)).toMatchObject({ deletionTimestamp, deletionGracePeriodSeconds });
});

test.each([
  ['that no node has', { ...POD, spec: { terminationGracePeriodSeconds: 30 } }],
  ['that has ended', { ...POD, status: { phase: 'Succeeded' } }],
  ['that has failed', { ...POD, status: { phase: 'Failed' } }],
  ['without a grace period', { ...POD, spec: { nodeName: 'node1' } }],
])('the grace period of a pod %s is 0', (_, pod) => {
  expect(later(pod)).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 });
});

test('a negative grace period of a pod becomes one second', () => {
  expect(later({ ...POD, spec: { ...SPEC, terminationGracePeriodSeconds: -5 } })).toMatchObject({
    deletionGracePeriodSeconds: 1,
  });
});

test('a second deletion can only shorten the grace period', () => {
  expect([later(DELETED), later(DELETED, 30), later(DELETED, 60)]).toEqual(['pending', 'pending', 'pending']);
  expect(later(DELETED, 10)).toEqual({
    name: 'a',
    generation: 2,
    deletionTimestamp: '2026-01-01T00:00:10Z',
    deletionGracePeriodSeconds: 10,
  });
});

test('a pod whose grace period is 0 is removed at once', () => {
  expect(later(withMetadata(DELETED, { deletionGracePeriodSeconds: 0 }))).toBe('now');
});

test.each([
  [5, 1],
  [0, 0],
])(
  'a shortened grace period of %d s that has already passed lasts %d s from now',
  (asked, deletionGracePeriodSeconds) => {
    expect(later(DELETED, asked, NOW + 20_000)).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:20Z',
      deletionGracePeriodSeconds,
    });
  },
);

test('a deletion time beyond the latest valid date is that date', () => {
  expect(later(POD, Number.MAX_SAFE_INTEGER)).toMatchObject({ deletionTimestamp: '9999-12-31T23:59:59Z' });
});
