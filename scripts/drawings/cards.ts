/** Lays out the contents of a drawing's outermost boxes: rows of states with arrows between them. */
import type { StateMeta } from '../../machines/shared/stateMeta.ts';
import { sansWidth } from '../../web/model/chart/textWidth.ts';
import type { Arrow, Item } from './content.ts';
import { type Box, HEAD_HEIGHT, type RoutedArrow, routeBeside } from './lanes.ts';

/** An outermost box with its contents. The coordinates are relative to its top-left corner. */
export interface Card {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** The boxes of the card. Outer boxes come before the boxes inside them. */
  readonly boxes: readonly Box[];
  /** The arrows within the card. */
  readonly innerRoutes: readonly RoutedArrow[];
}

const ROW = 24;
const GAP = 10;
const PADDING = 8;
/** Width reserved after a state's name for the time that an actor has spent in the state. */
const TIME_IN_STATE_WIDTH = 44;
/** Width reserved before a state's name for the symbol that marks the active state. */
const MARK_WIDTH = 17;
const NAME_FONT_SIZE = 12;
const LARGE_CARD = { least: 176, most: 216, height: 70 };

// Safe cast: every machine declares StateMeta as its meta type.
const metaOf = ({ node }: Item) => (node?.meta ?? {}) as StateMeta;

/** Whether a state is drawn large, which is the case if it ends at a known time and therefore shows a progress bar. */
const isLargeState = (item: Item): boolean => {
  const { waitsFor, until, afterMs } = metaOf(item);
  return waitsFor !== undefined && (until !== undefined || afterMs !== undefined);
};

/** Returns the minimum width of an outermost box without its lanes. */
export function minCardWidth(item: Item): number {
  if (item.children.length > 0) return Math.max(minContentWidth(item), 132);
  const name = sansWidth(item.label, NAME_FONT_SIZE);
  if (!isLargeState(item)) return Math.max(name + 20 + MARK_WIDTH + TIME_IN_STATE_WIDTH, 80);
  const waitTextWidth = sansWidth(`waits for ${metaOf(item).waitsFor}`, 11) + 28;
  return Math.min(Math.max(waitTextWidth / 2 + 24, name + 100, LARGE_CARD.least), LARGE_CARD.most);
}

/** Lays out an outermost box. `minWidth` is used to align several boxes. */
export function createCard(item: Item, arrows: readonly Arrow[], minWidth = 0): Card {
  const { id } = item;
  const width = Math.max(minCardWidth(item), minWidth);
  if (item.children.length === 0) {
    const height = isLargeState(item) ? LARGE_CARD.height : 32;
    return { id, width, height, boxes: [{ item, x: 0, y: 0, width, height }], innerRoutes: [] };
  }
  const isInside = (box: string) => rows.some((each) => each.item.id === box);
  const rows = layOutRows(item, { x: 0, y: 0, width });
  const innerArrows = arrows.filter(
    ({ from, to }) => isInside(from) && isInside(to) && !from.endsWith('*') && !to.endsWith('*'),
  );
  const { left, right } = routeBeside({ ...laneArea(rows, id), edges: [0, 0] }, innerArrows);
  const innerWidth = Math.max(width - left - right, minCardWidth(item));
  const [card, ...below] = layOutRows(item, { x: 0, y: 0, width: innerWidth });
  if (card === undefined) return { id, width, height: 0, boxes: [], innerRoutes: [] };
  const boxes = [{ ...card, width: innerWidth + left + right }, ...below.map((box) => ({ ...box, x: box.x + left }))];
  const edges = [left + PADDING - 2, left + innerWidth - PADDING + 2] as const;
  const { routes } = routeBeside({ ...laneArea(boxes, id), edges }, innerArrows);
  return { id, width: innerWidth + left + right, height: card.height, boxes, innerRoutes: routes };
}

const laneArea = (boxes: readonly Box[], container: string) => ({ boxes, container, gap: GAP });

/** Returns the minimum width for the contents of a box. */
function minContentWidth(item: Item): number {
  const ownWidth = sansWidth(item.label, NAME_FONT_SIZE) + 20 + MARK_WIDTH + TIME_IN_STATE_WIDTH;
  return Math.max(ownWidth, ...item.children.map((each) => minContentWidth(each) + 2 * PADDING));
}

/** Returns a box at the given position and with the given width, and all boxes inside it. */
function layOutRows(item: Item, { x, y, width }: { x: number; y: number; width: number }): Box[] {
  if (item.children.length === 0) return [{ item, x, y, width, height: ROW }];
  const rows: Box[] = [];
  let top = y + HEAD_HEIGHT;
  for (const each of item.children) {
    const childRows = layOutRows(each, { x: x + PADDING, y: top, width: width - 2 * PADDING });
    rows.push(...childRows);
    top += (childRows[0]?.height ?? ROW) + GAP;
  }
  return [{ item, x, y, width, height: top - GAP + PADDING + 2 - y }, ...rows];
}
