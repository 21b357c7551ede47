import { expect, test } from '@jest/globals';
import { firstDifference } from '../../../base/values/firstDifference.ts';

test('finds no difference between equal values, whatever the order of keys', () => {
  expect(firstDifference({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBeUndefined();
});

test.each([
  [1, 2, { path: '', left: 1, right: 2 }],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { path: '.a.c', left: 2, right: 3 }],
  [{ a: [1, 2] }, { a: [1] }, { path: '.a.1', left: 2, right: undefined }],
  [{}, { constructor: 1 }, { path: '.constructor', left: undefined, right: 1 }],
  [{ a: 1 }, undefined, { path: '', left: { a: 1 }, right: undefined }],
])('the first difference between %j and %j is reported with its full path', (one, other, difference) => {
  expect(firstDifference(one, other)).toEqual(difference);
});
