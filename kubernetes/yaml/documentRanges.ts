import type { DocumentRange } from './parser.ts';
import { LINE_BREAKS } from './scanner.ts';

/** Pattern of a line that contains only a directive, a comment or whitespace. */
const PREAMBLE_LINE = /^(?:%|[ \t]*(?:#|$))/;

/**
 * Splits a text into documents at lines that start with `---` or `...`. As in YAML, it does not matter what precedes
 * such a line, so an error in one document does not affect the others. Directives belong to the document that follows
 * them.
 */
export function documentRanges(text: string): DocumentRange[] {
  const ranges: DocumentRange[] = [];
  let currentRange = { start: 0, line: 0, isAfterEnd: false };
  const lineBreak = new RegExp(`\\r\\n|[${LINE_BREAKS}]`, 'g');
  /** Position of the first directive after the last line with content. */
  let directives: { start: number; line: number } | undefined;
  const closeRange = (end: number, next: typeof currentRange) => {
    ranges.push({ ...currentRange, end });
    currentRange = next;
    directives = undefined;
  };
  let [start, line] = [0, 0];
  for (let isLast = false; !isLast; line += 1) {
    const match = lineBreak.exec(text);
    isLast = match === null;
    const end = match === null ? text.length : match.index;
    const nextLineStart = lineBreak.lastIndex;
    if (isIndicator(text, start, end, '---')) {
      const rangeStart = directives ?? { start, line };
      if (rangeStart.start > 0) closeRange(rangeStart.start, { ...rangeStart, isAfterEnd: false });
    } else if (isIndicator(text, start, end, '...')) {
      closeRange(start, { start: nextLineStart, line: line + 1, isAfterEnd: true });
      if (isLast) return ranges;
    } else if (text[start] === '%') {
      directives ??= { start, line };
    } else if (directives !== undefined && !PREAMBLE_LINE.test(text.slice(start, end))) {
      directives = undefined;
    }
    start = nextLineStart;
  }
  ranges.push({ ...currentRange, end: text.length });
  return ranges;
}

/** Whether the line from `start` to `end` begins with a document indicator. */
function isIndicator(text: string, start: number, end: number, indicator: string): boolean {
  if (!text.startsWith(indicator, start)) return false;
  const afterIndicator = start + indicator.length;
  return afterIndicator === end || text[afterIndicator] === ' ' || text[afterIndicator] === '\t';
}
