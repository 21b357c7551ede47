import { expect, test } from '@jest/globals';
import { LinePrefixer } from '../../../cli/output/linePrefixer.ts';

const taken = (lines: LinePrefixer, text: string) => lines.push(Buffer.from(text)).toString();

test('a line is returned when it is complete, and the rest on flush', () => {
  const lines = new LinePrefixer('');
  expect([taken(lines, 'a\nb'), taken(lines, 'c'), taken(lines, '\n\nd')]).toEqual(['a\n', '', 'bc\n\n']);
  expect(lines.flush().toString()).toBe('d');
});

test('each line is prefixed once', () => {
  const lines = new LinePrefixer('[x] ');
  expect(taken(lines, 'a\n\nb')).toBe('[x] a\n[x] \n');
  expect(lines.flush().toString()).toBe('[x] b');
});

test('a line that never ends is not buffered indefinitely', () => {
  const lines = new LinePrefixer('[x] ');
  const long = 'y'.repeat(300_000);
  expect(taken(lines, long)).toBe(`[x] ${long}`);
  expect(taken(lines, 'end\nnext\n')).toBe('end\n[x] next\n');
});
