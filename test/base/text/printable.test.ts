import { expect, test } from '@jest/globals';
import { escapeUnsafeCharacters, isPrintable, printableText } from '../../../base/text/printable.ts';

test.each([
  ['an escape', '\x1b[2J\x1b]0;title\x07', '^[[2J^[]0;title\\x07'],
  ['a return', 'good\rbad', 'good\\rbad'],
  ['controls of 8 bits', '\x9b31m\x90', '\\u009b31m\\u0090'],
  ['another direction', 'user\u202ecod.exe\u2066', 'user\\u202ecod.exe\\u2066'],
  ['a deletion', 'a\x7f\0', 'a\\x7f\\x00'],
])('text with %s is escaped', (_, raw, shown) => {
  expect(printableText(raw)).toBe(shown);
  expect([isPrintable(raw), isPrintable(shown)]).toEqual([false, true]);
});

test('preserves harmless characters: line breaks, tabs, letters of any script, emoji', () => {
  const text = 'a\n\tb größer 節點 🚀 e\u0301';
  expect(printableText(text)).toBe(text);
});

test('preserves the meaning inside quotes', () => {
  const text = '\x7f\x9b\u202e';
  expect(JSON.parse(escapeUnsafeCharacters(JSON.stringify(text)))).toBe(text);
  expect(isPrintable(escapeUnsafeCharacters(JSON.stringify(text)))).toBe(true);
});
