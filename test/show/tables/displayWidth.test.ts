import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { displayWidth, padText, prefixOfWidth, truncate, wrapText } from '../../../show/tables/displayWidth.ts';

describe('the width of text on a terminal', () => {
  test.each([
    ['plain', 5],
    ['日本語', 6],
    ['ﾊﾝｶｸ', 4],
    ['한국어', 6],
    ['cafe\u0301', 4],
    ['नमस्ते', 4],
    ['🚀', 2],
    ['a\u200bb', 2],
    ['', 0],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('truncated text ends with an ellipsis, fits, and does not separate a combining mark from its character', () => {
    expect(truncate('日本語', 6)).toBe('日本語');
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
    expect(truncate('anything', 0)).toBe('');
  });

  test('text is padded with spaces on either side', () => {
    expect(padText('日本', 6)).toBe('日本  ');
    expect(padText('日本', 6, 'right')).toBe('  日本');
    expect(padText('日本', 2)).toBe('日本');
  });

  test('truncated and wrapped text never exceeds the width, and wrapping loses nothing', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ' ', '日', '\u0301', '🚀', '·') });
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 20 }), (text, width) => {
        expect(displayWidth(truncate(text, width))).toBeLessThanOrEqual(width);
        expect(text.startsWith(prefixOfWidth(text, width))).toBe(true);
        const lines = wrapText(text, width);
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      }),
    );
  });
});
