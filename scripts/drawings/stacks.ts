/** Stacks cards in columns, for a chart that would be too wide as one row. */
import { type Card, cardOf, minCardWidth } from './cards.ts';
import type { Arrow, Item } from './content.ts';
import { lanesBeside } from './lanes.ts';

const GAP = 28;
/** Gap with space for an arrow's label of four lines. */
const WIDE_GAP = 74;
/** Wider gaps may make a column taller than the tallest column by at most this much. */
const ROOM = 24;

/** Lays out columns side by side. Shorter columns have wider gaps between their cards. */
export function columnsOf(columns: readonly (readonly Item[])[], arrows: readonly Arrow[]): Card[] {
  const compact = columns.map((items, index) => stackOf(`column ${index}`, items, arrows, GAP));
  const height = Math.max(...compact.map((card) => card.height));
  return columns.map((items, index) => {
    const left = height + ROOM - (compact[index]?.height ?? 0);
    const gap = items.length > 1 ? Math.min(WIDE_GAP, GAP + Math.max(0, left) / (items.length - 1)) : GAP;
    return stackOf(`column ${index}`, items, arrows, gap);
  });
}

/** Lays out one column, which is as wide as its widest card. */
function stackOf(id: string, items: readonly Item[], arrows: readonly Arrow[], gap: number): Card {
  const minWidth = Math.max(...items.map(minCardWidth));
  const widest = Math.max(...items.map((item) => cardOf(item, arrows, minWidth).width));
  const cards = items.map((item) => cardOf(item, arrows, widest));
  const homes = new Map(cards.flatMap((card) => card.boxes.map(({ item }) => [item.id, card.id])));
  const isBetween = ({ from, to }: Arrow) => homes.has(from) && homes.has(to) && homes.get(from) !== homes.get(to);
  const ownArrows = arrows.filter(isBetween);
  const flat = { boxes: stackCards(cards, 0, gap).boxes, gap };
  const { left, right } = lanesBeside({ ...flat, edges: [0, widest] }, ownArrows);
  const { boxes, inner, height } = stackCards(cards, left, gap);
  const { routes } = lanesBeside({ boxes, gap, edges: [left, left + widest] }, ownArrows);
  return { id, width: left + widest + right, height, boxes, inner: [...inner, ...routes] };
}

/** Positions the cards of a column at the given x coordinate. */
function stackCards(cards: readonly Card[], left: number, gap: number): Pick<Card, 'boxes' | 'inner' | 'height'> {
  const boxes: Card['boxes'][number][] = [];
  const inner: Card['inner'][number][] = [];
  let top = 0;
  for (const card of cards) {
    const down = top;
    boxes.push(...card.boxes.map((box) => ({ ...box, x: box.x + left, y: box.y + down })));
    inner.push(
      ...card.inner.map(({ arrow, points }) => ({
        arrow,
        points: points.map(([x, y]) => [x + left, y + down] as const),
      })),
    );
    top += card.height + gap;
  }
  return { boxes, inner, height: top - gap };
}
