import { expect, test } from '@jest/globals';
import { lookUp } from '../../../base/values/lookUp.ts';

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s is found only as an own property', (name) => {
  expect(lookUp({}, name)).toBeUndefined();
  expect(lookUp(JSON.parse(`{"${name}":1}`), name)).toBe(1);
});

test('finds nothing in an undefined map', () => {
  expect(lookUp(undefined, 'a')).toBeUndefined();
});
