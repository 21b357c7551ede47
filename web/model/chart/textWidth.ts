/** How wide a text is on the page, in pixels, without a page: a little more than in any of its fonts. */

/** Widths of a proportional font at 1 px, of those that are not as most. */
const NARROW = new Map([
  ...[..."iljI|.,:;' !()[]"].map((letter) => [letter, 0.31] as const),
  ...[...'frt-"'].map((letter) => [letter, 0.4] as const),
  ...[...'mw'].map((letter) => [letter, 0.86] as const),
  ...[...'MW'].map((letter) => [letter, 0.94] as const),
  ...[...'ABCDEFGHKLNOPQRSTUVXYZ'].map((letter) => [letter, 0.7] as const),
]);
const MOST = 0.59;
const MONOSPACE = 0.605;

/** In the font of names, of this size. */
export const sansWidth = (text: string, size: number): number =>
  Math.ceil([...text].reduce((sum, letter) => sum + (NARROW.get(letter) ?? MOST), 0) * size);

/** In the font of events and guards. */
export const monoWidth = (text: string, size: number): number => Math.ceil([...text].length * MONOSPACE * size);
