/**
 * Estimates the width of text in pixels without a browser. Slightly overestimates the width in all of the page's fonts.
 */

/** Widths of the characters whose width differs from the default, relative to the font size. */
const NARROW_WIDTHS = new Map([
  ...[..."iljI|.,:;' !()[]"].map((letter) => [letter, 0.31] as const),
  ...[...'frt-"'].map((letter) => [letter, 0.4] as const),
  ...[...'mw'].map((letter) => [letter, 0.86] as const),
  ...[...'MW'].map((letter) => [letter, 0.94] as const),
  ...[...'ABCDEFGHKLNOPQRSTUVXYZ'].map((letter) => [letter, 0.7] as const),
]);
const DEFAULT_WIDTH = 0.59;
const MONOSPACE_WIDTH = 0.605;

/** Returns the width in the proportional font, which is used for names. */
export const sansWidth = (text: string, size: number): number =>
  Math.ceil([...text].reduce((sum, letter) => sum + (NARROW_WIDTHS.get(letter) ?? DEFAULT_WIDTH), 0) * size);

/** Returns the width in the monospace font, which is used for events and guards. */
export const monoWidth = (text: string, size: number): number => Math.ceil([...text].length * MONOSPACE_WIDTH * size);
