import { expect, test } from '@jest/globals';
import { WholeLines } from '../../../cli/output/wholeLines.ts';

const taken = (lines: WholeLines, text: string) => lines.take(Buffer.from(text)).toString();

test('a line is told when it has ended, and what has no end at last', () => {
  const lines = new WholeLines('');
  expect([taken(lines, 'a\nb'), taken(lines, 'c'), taken(lines, '\n\nd')]).toEqual(['a\n', '', 'bc\n\n']);
  expect(lines.end().toString()).toBe('d');
});

test('each line says whose it is, once', () => {
  const lines = new WholeLines('[x] ');
  expect(taken(lines, 'a\n\nb')).toBe('[x] a\n[x] \n');
  expect(lines.end().toString()).toBe('[x] b');
});

test('a line that does not end is not held for ever', () => {
  const lines = new WholeLines('[x] ');
  const long = 'y'.repeat(300_000);
  expect(taken(lines, long)).toBe(`[x] ${long}`);
  expect(taken(lines, 'end\nnext\n')).toBe('end\n[x] next\n');
});
