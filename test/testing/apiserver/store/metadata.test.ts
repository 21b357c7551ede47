import { expect, test } from '@jest/globals';
import { metadataOf, withMetadata } from '../../../../testing/apiserver/store/metadata.ts';

test('metadata is read as far as it is text', () => {
  expect(metadataOf({ metadata: { name: 'a', uid: 3, labels: {}, constructor: 'x' } })).toEqual({ name: 'a' });
  expect([{}, { metadata: null }, { metadata: [] }].map(metadataOf)).toEqual([{}, {}, {}]);
});

test('a field of it is set or taken away, and what was there stays as it is', () => {
  const before = { kind: 'Pod', metadata: { name: 'a', uid: 'u' } };
  expect(withMetadata(before, { uid: undefined, resourceVersion: '3' })).toEqual({
    kind: 'Pod',
    metadata: { name: 'a', resourceVersion: '3' },
  });
  expect(before.metadata.uid).toBe('u');
  expect(withMetadata({}, { name: 'a' })).toEqual({ metadata: { name: 'a' } });
});
