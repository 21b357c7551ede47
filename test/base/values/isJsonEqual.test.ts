import { expect, test } from '@jest/globals';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';

test.each<[string, unknown, unknown]>([
  ['keys in another order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ['a key without a value', { a: 1, b: undefined }, { a: 1 }],
  ['a key without a value, the other way round', { a: 1 }, { a: 1, b: undefined }],
  ['lists', [{ a: 1 }, 2], [{ a: 1 }, 2]],
  ['null', { a: null }, { a: null }],
])('two values are equal: %s', (_, a, b) => {
  expect(isJsonEqual(a, b)).toBe(true);
});

test.each<[string, unknown, unknown]>([
  ['another value', { a: 1 }, { a: 2 }],
  ['a key less', { a: 1, b: 2 }, { a: 1 }],
  ['a key more', { a: 1 }, { a: 1, b: 2 }],
  ['a list in another order', [1, 2], [2, 1]],
  ['a list and an object', [1], { 0: 1 }],
  ['an empty list and an empty object', [], {}],
  ['null and an object', null, {}],
  ['null and nothing', { a: null }, {}],
  ['a key that every object answers to', { constructor: 1 }, {}],
  ['such a key in the other', {}, { toString: 1 }],
  ['a number and its text', 1, '1'],
])('two values are not equal: %s', (_, a, b) => {
  expect(isJsonEqual(a, b)).toBe(false);
});
