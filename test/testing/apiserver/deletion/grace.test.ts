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

/** Returns the metadata of the pod that the deletion writes, or the kind of deletion if it writes nothing. */
function deletionOf(pod: JsonObject, requested?: number, now = NOW) {
  const deletion = gracefulDeletion(pod, requested, now);
  return deletion.when === 'later' ? deletion.object.metadata : deletion.when;
}

test('a deleted pod on a node gets its own grace period and a new generation', () => {
  expect(deletionOf(POD)).toEqual({
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
])('a client may request a grace period of %d s', (requested, deletionTimestamp, deletionGracePeriodSeconds) => {
  expect(deletionOf(POD, requested)).toMatchObject({ deletionTimestamp, deletionGracePeriodSeconds });
});

test.each([
  ['that is not bound to a node', { ...POD, spec: { terminationGracePeriodSeconds: 30 } }],
  ['that has succeeded', { ...POD, status: { phase: 'Succeeded' } }],
  ['that has failed', { ...POD, status: { phase: 'Failed' } }],
  ['without a grace period', { ...POD, spec: { nodeName: 'node1' } }],
])('the grace period of a pod %s is 0', (_, pod) => {
  expect(deletionOf(pod)).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 });
});

test('a negative grace period of a pod becomes one second', () => {
  expect(deletionOf({ ...POD, spec: { ...SPEC, terminationGracePeriodSeconds: -5 } })).toMatchObject({
    deletionGracePeriodSeconds: 1,
  });
});

test('a second deletion can only shorten the grace period', () => {
  expect([deletionOf(DELETED), deletionOf(DELETED, 30), deletionOf(DELETED, 60)]).toEqual([
    'pending',
    'pending',
    'pending',
  ]);
  expect(deletionOf(DELETED, 10)).toEqual({
    name: 'a',
    generation: 2,
    deletionTimestamp: '2026-01-01T00:00:10Z',
    deletionGracePeriodSeconds: 10,
  });
});

test('a pod whose grace period is 0 is removed at once', () => {
  expect(deletionOf(withMetadata(DELETED, { deletionGracePeriodSeconds: 0 }))).toBe('now');
});

test.each([
  [5, 1],
  [0, 0],
])(
  'a shortened grace period of %d s that has already passed lasts %d s from now',
  (requested, deletionGracePeriodSeconds) => {
    expect(deletionOf(DELETED, requested, NOW + 20_000)).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:20Z',
      deletionGracePeriodSeconds,
    });
  },
);

test('a deletion time beyond the latest valid date is that date', () => {
  expect(deletionOf(POD, Number.MAX_SAFE_INTEGER)).toMatchObject({ deletionTimestamp: '9999-12-31T23:59:59Z' });
});
