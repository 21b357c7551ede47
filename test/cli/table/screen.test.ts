import { describe, expect, test } from '@jest/globals';
import { openScreen } from '../../../cli/table/screen.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is read here.
const SEQUENCES = /\x1b\[\??(\d*)([A-Za-z])|([^\x1b\n\r]+)|(\n)|\r/g;

/** A terminal that does what the screen's control sequences say, so that a test sees what a user would. */
function fakeTerminal(columns: number) {
  let rows: string[] = [''];
  let row = 0;
  let writes = 0;
  const apply: Record<string, (count: number) => void> = {
    A: (count) => {
      row = Math.max(0, row - count);
    },
    J: () => {
      rows = [...rows.slice(0, row), ''];
    },
    K: () => {},
    h: () => {},
    l: () => {},
  };
  const put = (text: string) => {
    // Each line is written from its beginning, so it replaces what the row held.
    if (text !== '') rows[row] = text;
  };
  return {
    columns,
    writes: () => writes,
    seen: () => rows.filter((line) => line !== ''),
    write(text: string) {
      writes++;
      for (const [, count, command, plain, newline] of text.matchAll(SEQUENCES)) {
        if (command !== undefined) apply[command]?.(Number(count || '1'));
        else if (newline !== undefined) {
          row++;
          rows[row] ??= '';
        } else put(plain ?? '');
      }
    },
  };
}

describe('the screen', () => {
  test('redraws its block in place', () => {
    const terminal = fakeTerminal(80);
    const screen = openScreen(terminal);
    screen.draw(['one', 'two', 'three']);
    screen.draw(['uno', 'dos']);
    expect(terminal.seen()).toEqual(['uno', 'dos']);
  });

  test('keeps other text above the block', () => {
    const terminal = fakeTerminal(80);
    const screen = openScreen(terminal);
    screen.above('before');
    screen.draw(['one', 'two']);
    screen.above('a warning');
    screen.draw(['one', 'two again']);
    expect(terminal.seen()).toEqual(['before', 'a warning', 'one', 'two again']);
  });

  test('writes once for a change, and not at all without one', () => {
    const terminal = fakeTerminal(80);
    const screen = openScreen(terminal);
    const opened = terminal.writes();
    screen.draw(['one']);
    screen.draw(['one']);
    expect(terminal.writes()).toBe(opened + 1);
  });

  test('goes up over the rows that a terminal made narrower wraps its lines into', () => {
    const terminal = fakeTerminal(80);
    const screen = openScreen(terminal);
    const texts: string[] = [];
    const { write } = terminal;
    terminal.write = (text) => {
      texts.push(text);
      write(text);
    };
    screen.draw(['x'.repeat(60), 'short']);
    terminal.columns = 40;
    screen.draw(['a']);
    expect(texts.at(-1)).toContain('\x1b[3A');
  });
});
