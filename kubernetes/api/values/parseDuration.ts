import { lookUp } from '../../../base/values/lookUp.ts';

/** Milliseconds per unit of a Go duration. */
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // U+00B5 is the micro sign, and the next key has the Greek letter mu.
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION_TERM = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/**
 * Parses a Go duration (`1m30s`, `0.5h`, `0`) to milliseconds. Returns undefined if the text is invalid or negative.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  let totalMs = 0;
  DURATION_TERM.lastIndex = 0;
  while (DURATION_TERM.lastIndex < text.length) {
    const term = DURATION_TERM.exec(text);
    if (!term) return undefined;
    totalMs += Number(term[1]) * (lookUp(MS_PER_UNIT, term[2] ?? '') ?? Number.NaN);
  }
  return text === '' ? undefined : totalMs;
}
