/**
 * Defines the icon of each category. Categories differ in both shape and color, so that either suffices to tell them
 * apart.
 */
import type { Category } from '../../show/category.ts';

/** A shape in a box of 12 by 12 units. */
interface Icon {
  /** Name of the color token. With the prefix `c-`, it is the CSS class that sets the color. */
  readonly colorToken: string;
  /** SVG path to fill. */
  readonly fill?: string;
  /** SVG path to stroke. */
  readonly line?: string;
  readonly width?: number;
}

export const CATEGORY_ICONS: ReadonlyMap<Category, Icon> = new Map<Category, Icon>([
  ['steady', { colorToken: 'steady', fill: 'M6 2.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 1 1 0-7Z' }],
  ['working', { colorToken: 'working', line: 'M6 1.6A4.4 4.4 0 1 1 1.6 6', width: 1.8 }],
  [
    'waiting',
    {
      colorToken: 'waiting',
      fill: 'M6 6V2.9A3.1 3.1 0 0 1 8.7 7.55Z',
      line: 'M6 1.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 1 1 0-8.8Z',
      width: 1.3,
    },
  ],
  [
    'retrying',
    { colorToken: 'retry', fill: 'M11.4 2.2 10.7 6 7.3 4.6Z', line: 'M10.3 5.2A4.4 4.4 0 1 0 9.4 8.9', width: 1.7 },
  ],
  ['done', { colorToken: 'done', line: 'M2.2 6.4 4.9 9 9.8 3.4', width: 1.7 }],
  ['failed', { colorToken: 'failed', line: 'M2.8 2.8 9.2 9.2M9.2 2.8 2.8 9.2', width: 1.9 }],
  ['broken', { colorToken: 'broken', fill: 'M6 .9 11.1 6 6 11.1.9 6Z' }],
]);

/** Returns the CSS class that sets the color of a category. */
export const colorClass = (category: Category): string => `c-${CATEGORY_ICONS.get(category)?.colorToken ?? 'broken'}`;
