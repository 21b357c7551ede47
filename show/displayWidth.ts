/** The width of text on a terminal, where each character takes zero, one or two columns. */

const PLAIN = /^[\x20-\x7e]*$/;
/** Combining marks, joiners and invisible characters. */
const NO_COLUMN = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u;
/** Ideographs, kana, Hangul, full-width forms and emoji. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

function widthOf(character: string): number {
  if (PLAIN.test(character)) return 1;
  if (NO_COLUMN.test(character)) return 0;
  return TWO_COLUMNS.test(character) ? 2 : 1;
}

/** Returns the number of terminal columns of a line of text. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Returns the longest prefix that fits into `width` columns without separating a combining mark from its character. */
export function beginning(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, width));
  let [taken, length] = [0, 0];
  for (const character of text) {
    taken += widthOf(character);
    if (taken > width) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** Truncates text to `width` columns and ends it with an ellipsis if anything was removed. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : `${beginning(text, width - 1)}…`;
}

/** Pads text with spaces to `width` columns. */
export function padded(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + space : space + text;
}

/** Wraps text into lines of at most `width` columns, between words if possible. */
export function wrapped(text: string, width: number): string[] {
  const room = Math.max(2, width);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, room))) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > room) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function pieces(word: string, room: number): string[] {
  const found: string[] = [];
  let rest = word;
  while (displayWidth(rest) > room) {
    const piece = beginning(rest, room);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...found, rest];
}
