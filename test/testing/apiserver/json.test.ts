import { expect, test } from '@jest/globals';
import { isList, isObject, numberAt, objectAt, objectOf, textAt } from '../../../testing/apiserver/json.ts';

test('an object is neither a list nor null', () => {
  expect([{}, [], null, 'x', undefined].map(isObject)).toEqual([true, false, false, false, false]);
  expect([{}, [], null].map(isList)).toEqual([false, true, false]);
});

test('a field may have any name', () => {
  const object = objectOf([['__proto__', { a: 1 }]]);
  expect(Object.keys(object)).toEqual(['__proto__']);
  expect(Object.hasOwn(object, 'a')).toBe(false);
});

test('the text of a field is read from own properties only', () => {
  expect([textAt({ a: 'x' }, 'a'), textAt({ a: 1 }, 'a'), textAt({}, 'constructor')]).toEqual(['x', '', '']);
});

test('the number and the object of a field are read from own properties only', () => {
  expect([numberAt({ a: 1 }, 'a'), numberAt({ a: 'x' }, 'a'), numberAt({}, 'constructor')]).toEqual([
    1,
    undefined,
    undefined,
  ]);
  expect([objectAt({ a: { b: 1 } }, 'a'), objectAt({ a: [] }, 'a'), objectAt({}, 'constructor')]).toEqual([
    { b: 1 },
    {},
    {},
  ]);
});
