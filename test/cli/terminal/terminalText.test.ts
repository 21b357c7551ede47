import { expect, test } from '@jest/globals';
import { TerminalText } from '../../../cli/terminal/terminalText.ts';

const ESC = '\u001b';

/** Returns the text that a terminal receives for a text that arrives in parts. */
function terminalOutput(...parts: (string | Uint8Array)[]): string {
  const text = new TerminalText();
  return parts.map((part) => text.push(Buffer.from(part))).join('') + text.flush();
}

test('colors are preserved, and reset at the end of the text', () => {
  expect(terminalOutput('\x1b[1;31mred\x1b[m plain\n')).toBe('\x1b[1;31mred\x1b[m plain\n');
  expect(terminalOutput('\x1b[31mred\x1b[0;1mbold')).toBe('\x1b[31mred\x1b[0;1mbold\x1b[0m');
  expect(terminalOutput('\x1b[38:2::1:2:3mred')).toBe('\x1b[38:2::1:2:3mred\x1b[0m');
  expect(terminalOutput('plain\n')).toBe('plain\n');
});

test('colors are reset between chunks, so an interrupted log leaves no color of a container on the terminal', () => {
  const text = new TerminalText();
  const take = (part: string) => text.push(Buffer.from(part));
  expect(take('\x1b[1m\x1b[31mred\n')).toBe('\x1b[1m\x1b[31mred\n\x1b[0m');
  expect(take('still\n')).toBe('\x1b[1m\x1b[31mstill\n\x1b[0m');
  expect(take('')).toBe('');
  expect(take('\x1b[0;32mgreen')).toBe('\x1b[1m\x1b[31m\x1b[0;32mgreen\x1b[0m');
  expect(take('\x1b[00mplain')).toBe('\x1b[0;32m\x1b[00mplain');
  expect(take('plain')).toBe('plain');
  const many = new TerminalText();
  for (let at = 0; at < 1_000; at += 1) many.push(Buffer.from('\x1b[31mx'));
  expect(many.push(Buffer.from('x')).length).toBeLessThan(200);
});

test('all other control sequences are escaped', () => {
  expect(terminalOutput('\x1b[2J\x1b]0;title\x07\x1b[6n\x1bc\x9b31m\u202egpj')).toBe(
    '^[[2J^[]0;title\\x07^[[6n^[c\ufffd31m\\u202egpj'.replace('\ufffd', '\\u009b'),
  );
  expect(terminalOutput('a\rb\r\nc\td\0\n')).toBe('a\\rb\r\nc\td\\x00\n');
  expect(terminalOutput(Buffer.from([0x61, 0x9b, 0x33, 0x31, 0x6d]))).toBe('a\ufffd31m');
});

test('the output does not depend on the chunk boundaries', () => {
  const whole = 'ä\x1b[31mred\x1b[2J\r\n€';
  const bytes = Buffer.from(whole);
  for (let at = 0; at <= bytes.length; at += 1) {
    const text = terminalOutput(bytes.subarray(0, at), bytes.subarray(at));
    expect(coloredCharacters(text)).toEqual(coloredCharacters('ä\x1b[31mred^[[2J\r\n€\x1b[0m'));
  }
  expect(coloredCharacters(terminalOutput(...Array.from(bytes, (byte) => Buffer.from([byte]))))).toEqual(
    coloredCharacters('ä\x1b[31mred^[[2J\r\n€\x1b[0m'),
  );
});

/** Returns each character with its color. */
function coloredCharacters(text: string): string[] {
  let colour = '';
  return text.split(new RegExp(`(${ESC}\\[[0-9;:]*m)`)).flatMap((part, at) => {
    if (at % 2 === 0) return [...part].map((each) => `${colour}${each}`);
    colour = part === '\x1b[0m' ? '' : part;
    return [];
  });
}

test('an incomplete sequence is escaped at the end', () => {
  expect(terminalOutput('a\x1b[3')).toBe('a^[[3');
  expect(terminalOutput('a\x1b')).toBe('a^[');
  expect(terminalOutput(`\x1b[${'1'.repeat(1_000)}m`)).toBe(`^[[${'1'.repeat(1_000)}m`);
});
