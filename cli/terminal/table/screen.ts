/** The members of a terminal's stream that this file uses. */
export interface Terminal {
  write(text: string): unknown;
}

/** Escape sequences that switch to the alternate screen, hide the cursor, disable wrapping and clear the screen. */
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLEAR = '\x1b[2J';
const LEAVE_SCREEN = '\x1b[?7h\x1b[?25h\x1b[?1049l';
/** Escape sequence that starts a synchronized update. Terminals without support ignore it. */
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';

/** A full screen that rewrites only the changed lines. */
export interface Screen {
  enter(): void;
  /** Clears the screen so that the next `draw` rewrites all lines, e.g. after a resize. */
  clear(): void;
  draw(lines: readonly string[]): void;
  /** Restores the previous screen. The alternate screen can be entered again. */
  leave(): void;
}

/** Creates a screen that writes at most once per `draw`. */
export function openScreen(terminal: Terminal): Screen {
  let drawnLines: readonly string[] = [];
  let isScreenActive = false;
  /**
   * Returns the sequence that draws a line. The line is cleared first, because clearing after a full line would remove
   * its last character.
   */
  const drawRow = (line: string, index: number) => `\x1b[${index + 1};1H\x1b[2K${line}`;
  return {
    enter() {
      drawnLines = [];
      terminal.write(ENTER_SCREEN);
      isScreenActive = true;
    },
    clear() {
      drawnLines = [];
      if (isScreenActive) terminal.write(CLEAR);
    },
    draw(lines) {
      if (!isScreenActive) return;
      const count = Math.max(lines.length, drawnLines.length);
      const rows = Array.from({ length: count }, (_, index) => index)
        .filter((index) => lines[index] !== drawnLines[index])
        .map((index) => drawRow(lines[index] ?? '', index));
      if (rows.length > 0) terminal.write(`${BEGIN_UPDATE}${rows.join('')}${END_UPDATE}`);
      drawnLines = [...lines];
    },
    leave() {
      if (isScreenActive) terminal.write(LEAVE_SCREEN);
      isScreenActive = false;
    },
  };
}
