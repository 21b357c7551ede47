import { expect, test } from '@jest/globals';
import { isList, isObject, objectOf } from '../../apiserver/json.ts';

test('an object is neither a list nor null', () => {
  expect([{}, [], null, 'x', undefined].map(isObject)).toEqual([true, false, false, false, false]);
  expect([{}, [], null].map(isList)).toEqual([false, true, false]);
});

test('a field may have any name', () => {
  const made = objectOf([['__proto__', { a: 1 }]]);
  expect(Object.keys(made)).toEqual(['__proto__']);
  expect(Object.hasOwn(made, 'a')).toBe(false);
});
