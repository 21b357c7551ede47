import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { isPrintable } from '../../../base/text/printable.ts';
import { formatObject } from '../../../cli/output/formatObject.ts';
import { prettyLog } from '../../../node/log/prettyLog.ts';

/**
 * Text that a container or a manifest may contain: escape sequences, bells, 8-bit controls and reversed text direction.
 */
const hostile = { said: '\x1b[2Jgone\x07', '\x9bkey': ['\u202eback', 'a\r\nb\x1b', 'plain'], plain: 'x: "y"' };

test.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
] as const)('hostile text is preserved exactly in %s, without control characters', async (form, read) => {
  const text = await formatObject(hostile, form);
  expect(read(text)).toEqual(hostile);
  expect(isPrintable(text)).toBe(true);
});

test('control characters are escaped in a pretty-printed log line', () => {
  const lines: string[] = [];
  const { write } = prettyLog({ write: (line) => void lines.push(line) });
  write(`${JSON.stringify({ level: 40, time: 0, msg: 'said \x1b[2J', pod: '\u202eweb' })}\n`);
  expect(lines.join('')).toContain('said ^[[2J');
  expect(isPrintable(lines.join(''))).toBe(true);
});
