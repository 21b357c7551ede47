import { expect, test } from '@jest/globals';
import { metadataOf, withMetadata } from '../../../../testing/apiserver/store/metadata.ts';

test('only the string fields of metadata are read', () => {
  expect(metadataOf({ metadata: { name: 'a', uid: 3, labels: {}, constructor: 'x' } })).toEqual({ name: 'a' });
  expect([{}, { metadata: null }, { metadata: [] }].map(metadataOf)).toEqual([{}, {}, {}]);
});

test('a metadata field is set or removed in a copy of the object', () => {
  const before = { kind: 'Pod', metadata: { name: 'a', uid: 'u' } };
  expect(withMetadata(before, { uid: undefined, resourceVersion: '3' })).toEqual({
    kind: 'Pod',
    metadata: { name: 'a', resourceVersion: '3' },
  });
  expect(before.metadata.uid).toBe('u');
  expect(withMetadata({}, { name: 'a' })).toEqual({ metadata: { name: 'a' } });
});
