/** The insides of boxes: rows one below the other, with arrows between them. */
import type { StateMeta } from '../../machines/shared/stateMeta.ts';
import { sansWidth } from '../../web/model/chart/textWidth.ts';
import type { Arrow, Item } from './content.ts';
import { type Box, HEAD, lanesBeside, type Routed } from './lanes.ts';

/** An outermost box with all that is in it, its corner at 0. */
export interface Card {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** The outer ones first. */
  readonly boxes: readonly Box[];
  /** The arrows that stay inside. */
  readonly inner: readonly Routed[];
}

const ROW = 24;
const GAP = 10;
const PAD = 8;
/** Room beside a name for the duration of a stay, and before it for the mark of the active state. */
const STAY = 44;
const MARK = 17;
const NAME = 12;
const LARGE = { least: 176, most: 216, height: 70 };

// Every machine here declares StateMeta as its meta type.
const metaOf = ({ node }: Item) => (node?.meta ?? {}) as StateMeta;

/** A state by itself that ends at a known time shows what it waits for, and how far it has come. */
const isLarge = (item: Item): boolean => {
  const { waitsFor, until, afterMs } = metaOf(item);
  return waitsFor !== undefined && (until !== undefined || afterMs !== undefined);
};

/** How wide an outermost box is at least, without its lanes. */
export function widthOf(item: Item): number {
  if (item.inside.length > 0) return Math.max(needOf(item), 132);
  const name = sansWidth(item.label, NAME);
  if (!isLarge(item)) return Math.max(name + 20 + MARK + STAY, 80);
  const waits = sansWidth(`waits for ${metaOf(item).waitsFor}`, 11) + 28;
  return Math.min(Math.max(waits / 2 + 24, name + 100, LARGE.least), LARGE.most);
}

/** What is inside an outermost box; `atLeast` so wide, to be like others. */
export function cardOf(item: Item, arrows: readonly Arrow[], atLeast = 0): Card {
  const { id } = item;
  const width = Math.max(widthOf(item), atLeast);
  if (item.inside.length === 0) {
    const height = isLarge(item) ? LARGE.height : 32;
    return { id, width, height, boxes: [{ item, x: 0, y: 0, width, height }], inner: [] };
  }
  const isInside = (box: string) => rows.some((each) => each.item.id === box);
  const rows = rowsOf(item, { x: 0, y: 0, width });
  const own = arrows.filter(
    ({ from, to }) => isInside(from) && isInside(to) && !from.endsWith('*') && !to.endsWith('*'),
  );
  const { left, right } = lanesBeside({ ...beside(rows, id), edges: [0, 0] }, own);
  const inner = Math.max(width - left - right, widthOf(item));
  const [card, ...below] = rowsOf(item, { x: 0, y: 0, width: inner });
  if (card === undefined) return { id, width, height: 0, boxes: [], inner: [] };
  const boxes = [{ ...card, width: inner + left + right }, ...below.map((box) => ({ ...box, x: box.x + left }))];
  const edges = [left + PAD - 2, left + inner - PAD + 2] as const;
  const { routes } = lanesBeside({ ...beside(boxes, id), edges }, own);
  return { id, width: inner + left + right, height: card.height, boxes, inner: routes };
}

const beside = (boxes: readonly Box[], around: string) => ({ boxes, around, gap: GAP });

/** How wide what is inside a box has to be. */
function needOf(item: Item): number {
  const own = sansWidth(item.label, NAME) + 20 + MARK + STAY;
  return Math.max(own, ...item.inside.map((each) => needOf(each) + 2 * PAD));
}

/** A box and all inside it, from its top left corner, so wide. */
function rowsOf(item: Item, { x, y, width }: { x: number; y: number; width: number }): Box[] {
  if (item.inside.length === 0) return [{ item, x, y, width, height: ROW }];
  const rows: Box[] = [];
  let top = y + HEAD;
  for (const each of item.inside) {
    const inside = rowsOf(each, { x: x + PAD, y: top, width: width - 2 * PAD });
    rows.push(...inside);
    top += (inside[0]?.height ?? ROW) + GAP;
  }
  return [{ item, x, y, width, height: top - GAP + PAD + 2 - y }, ...rows];
}
