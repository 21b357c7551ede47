/** Interprets the escape sequences that the table uses, so that a test can assert on what a user sees. */
import { ESC } from '../../support/escape.ts';

const PARTS = new RegExp(`${ESC}\\[(\\??)([\\d;]*)([A-Za-z])|([^${ESC}\\n\\r]+)|(\\n)|(\\r)`, 'g');

/** State of the terminal after all output. */
export interface SeenTerminal {
  /** Rows of the normal screen, including those that have scrolled out of it. */
  readonly normal: readonly string[];
  /** Rows of the alternate screen while it is in use. */
  readonly other: readonly string[] | undefined;
  readonly cursorShown: boolean;
  readonly wraps: boolean;
}

interface Page {
  rows: string[];
  row: number;
}

/** Returns the state of a terminal that has received this output: rows, alternate screen and cursor. */
export function seenOn(written: string): SeenTerminal {
  const normal: Page = { rows: [''], row: 0 };
  let other: Page | undefined;
  const modes = new Map([
    ['25', true],
    ['7', true],
  ]);
  const page = () => other ?? normal;
  const apply = (isPrivate: boolean, numbers: string, command: string) => {
    if (isPrivate && numbers === '1049') other = command === 'h' ? { rows: [], row: 0 } : undefined;
    else if (isPrivate) modes.set(numbers, command === 'h');
    else if (command === 'H') page().row = Number(numbers.split(';')[0] || 1) - 1;
    else if (command === 'J') page().rows = [];
    else if (command === 'K') page().rows[page().row] = '';
  };
  for (const [, question, numbers = '', command, text, newline] of written.matchAll(PARTS)) {
    const { rows, row } = page();
    if (command !== undefined) apply(question === '?', numbers, command);
    else if (text !== undefined) rows[row] = (rows[row] ?? '') + text;
    else if (newline !== undefined) {
      page().row = row + 1;
      rows[row + 1] ??= '';
    }
  }
  return {
    normal: normal.rows.filter((line) => line !== ''),
    other: other && Array.from(other.rows, (line) => line ?? ''),
    cursorShown: modes.get('25') ?? true,
    wraps: modes.get('7') ?? true,
  };
}
