/** Measures the width of text on a terminal, where each character takes zero, one or two columns. */

const ASCII_PATTERN = /^[\x20-\x7e]*$/;
/** Combining marks, joiners and invisible characters. */
const ZERO_WIDTH_CHARACTER = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u;
/** Ideographs, kana, Hangul, full-width forms and emoji. */
const DOUBLE_WIDTH_CHARACTER =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

function characterWidth(character: string): number {
  if (ASCII_PATTERN.test(character)) return 1;
  if (ZERO_WIDTH_CHARACTER.test(character)) return 0;
  return DOUBLE_WIDTH_CHARACTER.test(character) ? 2 : 1;
}

/** Returns the number of terminal columns that a line of text occupies. */
export function displayWidth(text: string): number {
  if (ASCII_PATTERN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Returns the longest prefix that fits into `width` columns without separating a combining mark from its character. */
export function prefixOfWidth(text: string, width: number): string {
  if (ASCII_PATTERN.test(text)) return text.slice(0, Math.max(0, width));
  let [usedWidth, length] = [0, 0];
  for (const character of text) {
    usedWidth += characterWidth(character);
    if (usedWidth > width) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** Truncates text to `width` columns and ends it with an ellipsis if anything was removed. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : `${prefixOfWidth(text, width - 1)}…`;
}

/** Pads text with spaces to `width` columns. */
export function padText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const padding = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + padding : padding + text;
}

/** Wraps text into lines of at most `width` columns, between words if possible. */
export function wrapText(text: string, width: number): string[] {
  const maxWidth = Math.max(2, width);
  const wrappedLines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => splitLongWord(whole, maxWidth))) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > maxWidth) {
      wrappedLines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...wrappedLines, line];
}

function splitLongWord(word: string, maxWidth: number): string[] {
  const wordPieces: string[] = [];
  let remainingText = word;
  while (displayWidth(remainingText) > maxWidth) {
    const piece = prefixOfWidth(remainingText, maxWidth);
    wordPieces.push(piece);
    remainingText = remainingText.slice(piece.length);
  }
  return [...wordPieces, remainingText];
}
