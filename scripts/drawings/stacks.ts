/** Stacks cards in columns, for a chart that would be too wide as a single row. */
import { type Card, createCard, minCardWidth } from './cards.ts';
import type { Arrow, Item } from './content.ts';
import { routeBeside } from './lanes.ts';

const GAP = 28;
/** Gap between two cards that has space for an arrow's label of four lines. */
const WIDE_GAP = 74;
/** Maximum amount by which a column with widened gaps may exceed the height of the tallest column with normal gaps. */
const COLUMN_PADDING = 24;

/** Lays out columns side by side. Shorter columns have wider gaps between their cards. */
export function layOutColumns(columns: readonly (readonly Item[])[], arrows: readonly Arrow[]): Card[] {
  const compactColumns = columns.map((items, index) => layOutColumn(`column ${index}`, items, arrows, GAP));
  const height = Math.max(...compactColumns.map((card) => card.height));
  return columns.map((items, index) => {
    const remainingHeight = height + COLUMN_PADDING - (compactColumns[index]?.height ?? 0);
    const gap = items.length > 1 ? Math.min(WIDE_GAP, GAP + Math.max(0, remainingHeight) / (items.length - 1)) : GAP;
    return layOutColumn(`column ${index}`, items, arrows, gap);
  });
}

/** Lays out one column, which is as wide as its widest card. */
function layOutColumn(id: string, items: readonly Item[], arrows: readonly Arrow[], gap: number): Card {
  const minWidth = Math.max(...items.map(minCardWidth));
  const maxWidth = Math.max(...items.map((item) => createCard(item, arrows, minWidth).width));
  const cards = items.map((item) => createCard(item, arrows, maxWidth));
  const cardByBox = new Map(cards.flatMap((card) => card.boxes.map(({ item }) => [item.id, card.id])));
  const isBetween = ({ from, to }: Arrow) =>
    cardByBox.has(from) && cardByBox.has(to) && cardByBox.get(from) !== cardByBox.get(to);
  const ownArrows = arrows.filter(isBetween);
  const unroutedArea = { boxes: stackCards(cards, 0, gap).boxes, gap };
  const { left, right } = routeBeside({ ...unroutedArea, edges: [0, maxWidth] }, ownArrows);
  const { boxes, innerRoutes: arrowRoutes, height } = stackCards(cards, left, gap);
  const { routes } = routeBeside({ boxes, gap, edges: [left, left + maxWidth] }, ownArrows);
  return { id, width: left + maxWidth + right, height, boxes, innerRoutes: [...arrowRoutes, ...routes] };
}

/** Positions the cards of a column at the given x coordinate. */
function stackCards(cards: readonly Card[], left: number, gap: number): Pick<Card, 'boxes' | 'innerRoutes' | 'height'> {
  const boxes: Card['boxes'][number][] = [];
  const arrowRoutes: Card['innerRoutes'][number][] = [];
  let top = 0;
  for (const card of cards) {
    const offsetY = top;
    boxes.push(...card.boxes.map((box) => ({ ...box, x: box.x + left, y: box.y + offsetY })));
    arrowRoutes.push(
      ...card.innerRoutes.map(({ arrow, points }) => ({
        arrow,
        points: points.map(([x, y]) => [x + left, y + offsetY] as const),
      })),
    );
    top += card.height + gap;
  }
  return { boxes, innerRoutes: arrowRoutes, height: top - gap };
}
