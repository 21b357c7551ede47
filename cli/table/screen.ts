import { stripVTControlCharacters } from 'node:util';

/** The part of a terminal's stream that a screen needs. */
export interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
/** Terminals that know it show everything in between at once; others ignore it. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';

/** A block of lines at the end of a terminal's output that is redrawn in place; other text goes above it. */
export interface Screen {
  draw(lines: readonly string[]): void;
  /** Prints a text that stays, above the block. */
  above(text: string): void;
  /** Leaves the block as it is last and gives the terminal back. */
  close(): void;
}

/** Opens a screen on a terminal: every change is one write, and no change is none. */
export function openScreen(terminal: Terminal): Screen {
  let drawn: readonly string[] = [];
  terminal.write(HIDE_CURSOR);

  /** How many rows the block takes now: a terminal made narrower wraps what was drawn. */
  const rows = () => {
    const width = terminal.columns ?? 80;
    return drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / width)), 0);
  };
  const up = () => (rows() > 0 ? `\x1b[${rows()}A\r` : '\r');
  const block = (lines: readonly string[]) => lines.map((line) => `${line}\x1b[K\n`).join('');
  return {
    draw(lines) {
      if (lines.length === drawn.length && lines.every((line, index) => line === drawn[index])) return;
      terminal.write(`${BEGIN}${up()}${block(lines)}\x1b[J${END}`);
      drawn = [...lines];
    },
    above(text) {
      const kept = text.endsWith('\n') ? text : `${text}\n`;
      terminal.write(`${BEGIN}${up()}\x1b[J${kept}${block(drawn)}${END}`);
    },
    close() {
      terminal.write(SHOW_CURSOR);
    },
  };
}
