import { expect, test } from '@jest/globals';
import { truncateToBytes, utf8Length } from '../../../base/text/utf8.ts';

test.each([
  ['abc', 3, 'abc'],
  ['abc', 2, 'ab'],
  ['äöü', 6, 'äöü'],
  ['äöü', 5, 'äö'],
  ['a😀', 4, 'a'],
  ['😀', 4, '😀'],
  ['abc', 0, ''],
])('%s is truncated to at most %i bytes at a character boundary', (text, most, expected) => {
  expect(truncateToBytes(text, most)).toBe(expected);
});

test.each(['', 'abc', 'äöü', '€', 'a😀b', '\ud83d', '\ude00\ud83d', 'x\ud83dy'])(
  'the UTF-8 length of %j is the length of its encoding',
  (text) => {
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  },
);
