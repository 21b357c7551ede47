import { expect, test } from '@jest/globals';
import { deletionFinalizers } from '../../../../testing/apiserver/deletion/propagation.ts';

test('the propagation policy determines the finalizer of the deletion', () => {
  expect(deletionFinalizers(['example.com/a'], 'Orphan')).toEqual(['example.com/a', 'orphan']);
  expect(deletionFinalizers([], 'Foreground')).toEqual(['foregroundDeletion']);
  expect(deletionFinalizers(['foregroundDeletion', 'example.com/a'], 'Background')).toEqual(['example.com/a']);
});

test('without a policy, an object retains the finalizer of its deletion', () => {
  expect(deletionFinalizers(['foregroundDeletion'], undefined)).toEqual(['foregroundDeletion']);
  expect(deletionFinalizers(['orphan'], undefined)).toEqual(['orphan']);
  expect(deletionFinalizers([], undefined)).toEqual([]);
});
