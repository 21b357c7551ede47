import { expect, test } from '@jest/globals';
import { firstBytes } from '../../base/utf8.ts';

test.each([
  ['abc', 3, 'abc'],
  ['abc', 2, 'ab'],
  ['äöü', 6, 'äöü'],
  ['äöü', 5, 'äö'],
  ['a😀', 4, 'a'],
  ['😀', 4, '😀'],
  ['abc', 0, ''],
])('the first bytes of %s, at most %i', (text, most, expected) => {
  expect(firstBytes(text, most)).toBe(expected);
});
