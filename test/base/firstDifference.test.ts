import { expect, test } from '@jest/globals';
import { firstDifference } from '../../base/firstDifference.ts';

test('values that are the same do not differ, whatever the order of their keys', () => {
  expect(firstDifference({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBeUndefined();
});

test.each([
  [1, 2, { path: '', one: 1, other: 2 }],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { path: '.a.c', one: 2, other: 3 }],
  [{ a: [1, 2] }, { a: [1] }, { path: '.a.1', one: 2, other: undefined }],
  [{}, { constructor: 1 }, { path: '.constructor', one: undefined, other: 1 }],
  [{ a: 1 }, undefined, { path: '', one: { a: 1 }, other: undefined }],
])('%j and %j differ at the deepest place', (one, other, difference) => {
  expect(firstDifference(one, other)).toEqual(difference);
});
