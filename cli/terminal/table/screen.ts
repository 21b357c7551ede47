/** The part of a terminal's stream that a screen needs. */
export interface Terminal {
  write(text: string): unknown;
}

/** The other screen of a terminal, without a cursor and without wrapping: what was there before comes back after it. */
const TAKE = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLEAR = '\x1b[2J';
const GIVE_BACK = '\x1b[?7h\x1b[?25h\x1b[?1049l';
/** Terminals that know it show everything in between at once; others ignore it. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';

/** The whole of a terminal, drawn again line by line where it changes. */
export interface Screen {
  take(): void;
  /** Forgets what is drawn, as after a change of its size: all is redrawn. */
  clear(): void;
  draw(lines: readonly string[]): void;
  /** Gives the terminal back as it was; it may be taken again. */
  giveBack(): void;
}

/** Opens a screen on a terminal: every change is one write, and no change is none. */
export function openScreen(terminal: Terminal): Screen {
  let drawn: readonly string[] = [];
  let isTaken = false;
  /** The line is cleared first: at the right margin, clearing what comes after it would take its last character. */
  const row = (line: string, index: number) => `\x1b[${index + 1};1H\x1b[2K${line}`;
  return {
    take() {
      drawn = [];
      terminal.write(TAKE);
      isTaken = true;
    },
    clear() {
      drawn = [];
      if (isTaken) terminal.write(CLEAR);
    },
    draw(lines) {
      if (!isTaken) return;
      const count = Math.max(lines.length, drawn.length);
      const rows = Array.from({ length: count }, (_, index) => index)
        .filter((index) => lines[index] !== drawn[index])
        .map((index) => row(lines[index] ?? '', index));
      if (rows.length > 0) terminal.write(`${BEGIN}${rows.join('')}${END}`);
      drawn = [...lines];
    },
    giveBack() {
      if (isTaken) terminal.write(GIVE_BACK);
      isTaken = false;
    },
  };
}
