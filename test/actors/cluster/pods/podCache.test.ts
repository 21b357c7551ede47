import { expect, test } from '@jest/globals';
import { PodCache } from '../../../../actors/cluster/pods/podCache.ts';

const object = (uid: string) => ({ metadata: { uid, namespace: 'default', name: uid, resourceVersion: '1' } });
const identity = (uid: string) => ({ uid, namespace: 'default', name: uid });

function cacheOf(...uids: readonly string[]) {
  const cache = new PodCache();
  cache.replaceAll(uids.map(object), []);
  return cache;
}

test('no pod counts as gone before the server has listed its pods', () => {
  expect(new PodCache().isGone(identity('a'))).toBe(false);
  expect(cacheOf().isGone(identity('a'))).toBe(true);
});

test('a pod that is missing from the server counts as removed until the server has it again', () => {
  const cache = cacheOf('a', 'b');
  expect([cache.isGone(identity('a')), cache.wasRemoved('a')]).toEqual([false, false]);
  cache.replaceAll([object('b')], []);
  expect([cache.isGone(identity('a')), cache.wasRemoved('a'), cache.wasRemoved('b')]).toEqual([true, true, false]);
  cache.replaceAll([object('b'), object('a')], []);
  expect([cache.isGone(identity('a')), cache.wasRemoved('a')]).toEqual([false, false]);
});

test('a pod that was replaced by another counts as removed', () => {
  const cache = cacheOf('a', 'b');
  cache.replaceAll([object('b'), object('c')], []);
  expect(['a', 'b', 'c'].map((uid) => cache.isGone(identity(uid)))).toEqual([true, false, false]);
  expect(['a', 'b', 'c'].map((uid) => cache.wasRemoved(uid))).toEqual([true, false, false]);
});

test('a static pod exists as long as its own mirror pod does; a mirror of another pod does not count', () => {
  const cache = cacheOf();
  const mirror = { uid: 'mirror-uid', namespace: 'default', name: 'a', hash: 'a', isDeleting: false };
  cache.replaceAll([], [mirror]);
  expect([cache.isMirrored(identity('a')), cache.isGone(identity('a'))]).toEqual([true, false]);
  cache.replaceAll([], [{ ...mirror, hash: 'b' }]);
  expect([cache.isMirrored(identity('a')), cache.isGone(identity('a'))]).toEqual([false, true]);
});

test('the last thousand removed pods are remembered', () => {
  const many = Array.from({ length: 1_001 }, (_, index) => `pod-${index}`);
  const cache = cacheOf(...many);
  cache.replaceAll([], []);
  expect([cache.wasRemoved('pod-0'), cache.wasRemoved('pod-1'), cache.wasRemoved('pod-1000')]).toEqual([
    false,
    true,
    true,
  ]);
});

test('the latest version of a pod is available only while the watch is connected', () => {
  const cache = cacheOf('a');
  expect(cache.latestVersion(identity('a'))).toBeUndefined();
  cache.updateState({ state: 'watching' });
  expect(cache.latestVersion(identity('a'))).toMatchObject({ metadata: { uid: 'a' } });
  cache.updateState({ state: 'reading' });
  expect(cache.latestVersion(identity('a'))).toBeUndefined();
});
