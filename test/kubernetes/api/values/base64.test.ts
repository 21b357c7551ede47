import { expect, test } from '@jest/globals';
import { base64Digits, countValidDigits } from '../../../../kubernetes/api/values/base64.ts';

test.each([
  ['', ''],
  ['aGk=', 'hi'],
  ['aG\r\nk=\n', 'hi'],
  ['aGlv', 'hio'],
  // Go ignores the unused bits of the last digit.
  ['aGl=', 'hi'],
])('%j contains %j', (text, bytes) => {
  expect(Buffer.from(base64Digits(text) ?? '?', 'base64').toString()).toBe(bytes);
  expect(base64Digits(text)).not.toMatch(/\s/);
});

test.each([
  ['aGk', 3],
  ['aGk==', 3],
  ['a-k=', 1],
  ['aG k=', 2],
  ['plain text', 5],
  ['====', 0],
])('%j is malformed after %i digits', (text, digits) => {
  expect(base64Digits(text)).toBeUndefined();
  expect(countValidDigits(text)).toBe(digits);
});
