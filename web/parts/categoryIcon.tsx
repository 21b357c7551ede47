import type { Category } from '../../show/category.ts';
import { CATEGORY_ICONS, colorClass } from '../model/categoryIcons.ts';

interface CategoryIconProps {
  readonly category: Category;
  /** Position within an SVG drawing. Undefined in a line of text. */
  readonly x?: number;
  readonly y?: number;
  readonly size?: number;
}

/**
 * The icon of a category in its color. It is hidden from screen readers, because the text next to it has the same
 * meaning.
 */
export function CategoryIcon({ category, x, y, size = 12 }: CategoryIconProps) {
  const { fill, line, width } = CATEGORY_ICONS.get(category) ?? {};
  return (
    <svg
      class={`i ${colorClass(category)}`}
      viewBox="0 0 12 12"
      x={x}
      y={y}
      width={size}
      height={size}
      aria-hidden="true"
    >
      {line && (
        <path
          d={line}
          fill="none"
          stroke="currentColor"
          stroke-width={width}
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      )}
      {fill && <path d={fill} fill="currentColor" />}
    </svg>
  );
}
