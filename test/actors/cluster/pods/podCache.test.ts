import { expect, test } from '@jest/globals';
import { PodCache } from '../../../../actors/cluster/pods/podCache.ts';

const object = (uid: string) => ({ metadata: { uid, namespace: 'default', name: uid, resourceVersion: '1' } });
const identity = (uid: string) => ({ uid, namespace: 'default', name: uid });

function cacheOf(...uids: readonly string[]) {
  const cache = new PodCache();
  cache.replaceAll(uids.map(object), []);
  return cache;
}

test('before the server has told its pods none is gone', () => {
  expect(new PodCache().isGone(identity('a'))).toBe(false);
  expect(cacheOf().isGone(identity('a'))).toBe(true);
});

test('a pod that the server has no more has left, until the server has it again', () => {
  const cache = cacheOf('a', 'b');
  expect([cache.isGone(identity('a')), cache.wasRemoved('a')]).toEqual([false, false]);
  cache.replaceAll([object('b')], []);
  expect([cache.isGone(identity('a')), cache.wasRemoved('a'), cache.wasRemoved('b')]).toEqual([true, true, false]);
  cache.replaceAll([object('b'), object('a')], []);
  expect([cache.isGone(identity('a')), cache.wasRemoved('a')]).toEqual([false, false]);
});

test('a pod in whose place another stands has left', () => {
  const cache = cacheOf('a', 'b');
  cache.replaceAll([object('b'), object('c')], []);
  expect(['a', 'b', 'c'].map((uid) => cache.isGone(identity(uid)))).toEqual([true, false, false]);
  expect(['a', 'b', 'c'].map((uid) => cache.wasRemoved(uid))).toEqual([true, false, false]);
});

test('a static pod is there as long as a mirror of it is: one that is marked as that of another pod is none', () => {
  const cache = cacheOf();
  const mirror = { uid: 'mirror-uid', namespace: 'default', name: 'a', hash: 'a', isDeleting: false };
  cache.replaceAll([], [mirror]);
  expect([cache.isMirrored(identity('a')), cache.isGone(identity('a'))]).toEqual([true, false]);
  cache.replaceAll([], [{ ...mirror, hash: 'b' }]);
  expect([cache.isMirrored(identity('a')), cache.isGone(identity('a'))]).toEqual([false, true]);
});

test('of pods that have left the last thousand are remembered', () => {
  const many = Array.from({ length: 1_001 }, (_, index) => `pod-${index}`);
  const cache = cacheOf(...many);
  cache.replaceAll([], []);
  expect([cache.wasRemoved('pod-0'), cache.wasRemoved('pod-1'), cache.wasRemoved('pod-1000')]).toEqual([
    false,
    true,
    true,
  ]);
});

test('the last that was seen of a pod is certain only while the watch is heard', () => {
  const cache = cacheOf('a');
  expect(cache.latestVersion(identity('a'))).toBeUndefined();
  cache.updateState({ state: 'watching' });
  expect(cache.latestVersion(identity('a'))).toMatchObject({ metadata: { uid: 'a' } });
  cache.updateState({ state: 'reading' });
  expect(cache.latestVersion(identity('a'))).toBeUndefined();
});
