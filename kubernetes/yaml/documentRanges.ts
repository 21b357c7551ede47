import type { DocumentRange } from './parser.ts';
import { LINE_BREAKS } from './scanner.ts';

/** Whether a line holds nothing but a directive, a comment or white space. */
const BEFORE_DOCUMENT = /^(?:%|[ \t]*(?:#|$))/;

/**
 * Splits a text where YAML always does, at lines that start with `---` or `...`, whatever stands before them. An error in
 * one document therefore leaves the others as they are. Directives belong to the document after them.
 */
export function documentRanges(text: string): DocumentRange[] {
  const ranges: DocumentRange[] = [];
  let open = { start: 0, line: 0, isAfterEnd: false };
  const lineBreak = new RegExp(`\\r\\n|[${LINE_BREAKS}]`, 'g');
  /** Position of the first directive since the last line with content. */
  let directives: { start: number; line: number } | undefined;
  const close = (end: number, next: typeof open) => {
    ranges.push({ ...open, end });
    open = next;
    directives = undefined;
  };
  let [start, line] = [0, 0];
  for (let isLast = false; !isLast; line += 1) {
    const match = lineBreak.exec(text);
    isLast = match === null;
    const end = match === null ? text.length : match.index;
    const next = lineBreak.lastIndex;
    if (isIndicator(text, start, end, '---')) {
      const from = directives ?? { start, line };
      if (from.start > 0) close(from.start, { ...from, isAfterEnd: false });
    } else if (isIndicator(text, start, end, '...')) {
      close(start, { start: next, line: line + 1, isAfterEnd: true });
      if (isLast) return ranges;
    } else if (text[start] === '%') {
      directives ??= { start, line };
    } else if (directives !== undefined && !BEFORE_DOCUMENT.test(text.slice(start, end))) {
      directives = undefined;
    }
    start = next;
  }
  ranges.push({ ...open, end: text.length });
  return ranges;
}

/** Whether the line from `start` to `end` starts with a document indicator. */
function isIndicator(text: string, start: number, end: number, indicator: string): boolean {
  if (!text.startsWith(indicator, start)) return false;
  const after = start + indicator.length;
  return after === end || text[after] === ' ' || text[after] === '\t';
}
