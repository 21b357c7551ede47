import { expect, test } from '@jest/globals';
import { lookUp } from '../../base/lookUp.ts';

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  '%s is in a map only when it was put there',
  (name) => {
    expect(lookUp({}, name)).toBeUndefined();
    expect(lookUp(JSON.parse(`{"${name}":1}`), name)).toBe(1);
  },
);

test('a map that is not there has nothing', () => {
  expect(lookUp(undefined, 'a')).toBeUndefined();
});
