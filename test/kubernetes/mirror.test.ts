import { describe, expect, test } from '@jest/globals';
import { isMirrorOf, mirroredHash, mirrorPod, readMirror } from '../../kubernetes/mirror.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const own = { namespace: 'default', name: 'web-node-1', uid: 'abc' };
const pod = {
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  spec: { containers: [], nodeName: 'node-1' },
  metadata: { ...own, labels: { app: 'web' }, annotations: { 'kubernetes.io/config.hash': 'abc', mine: '1' } },
};

test('a mirror pod is created with the hash of the static pod and the node as its owner', () => {
  expect(mirrorPod(pod, { name: 'node-1', uid: 'node-uid' })).toEqual({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [MIRROR]: 'abc' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid', controller: true }],
    },
    status: { phase: 'Pending' },
  });
});

describe('a mirror pod', () => {
  const metadata = { ...own, uid: 'm-1', annotations: { [MIRROR]: 'abc' } };
  test('is recognized by the annotation alone, whatever its value', () => {
    expect(readMirror({ metadata })).toEqual({ ...own, uid: 'm-1', hash: 'abc', isDeleting: false });
    expect(mirroredHash(metadata.annotations)).toBe('abc');
    expect(readMirror({ metadata: { ...metadata, annotations: { [MIRROR]: '' } } })).toMatchObject({ hash: '' });
  });
  test('may have a deletion timestamp', () => {
    const deleted = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(readMirror({ metadata: deleted })).toMatchObject({ isDeleting: true });
  });
  test.each([{}, null, { metadata: own }, { metadata: { ...own, annotations: { [MIRROR]: 1 } } }])(
    'rejects %j',
    (object) => {
      expect(readMirror(object)).toBeUndefined();
    },
  );
});

test('a mirror pod is current as long as the hash is equal and it is not being deleted', () => {
  const seen = { ...own, uid: 'm-1', hash: 'abc', isDeleting: false };
  expect(isMirrorOf(seen, pod)).toBe(true);
  expect(isMirrorOf({ ...seen, hash: 'abd' }, pod)).toBe(false);
  expect(isMirrorOf({ ...seen, isDeleting: true }, pod)).toBe(false);
});
