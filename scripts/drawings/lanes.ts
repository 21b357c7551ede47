/**
 * Routes arrows between vertically stacked boxes. An arrow runs straight to a neighboring box, or else in a lane beside
 * the boxes.
 */
import type { Arrow, Item } from './content.ts';

export type Point = readonly [number, number];

/** A positioned box. The coordinates are relative to the top-left corner of the outermost box. */
export interface Box {
  readonly item: Item;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface RoutedArrow {
  readonly arrow: Arrow;
  readonly points: readonly Point[];
}

/** Height of the header of a box that contains other boxes. */
export const HEAD_HEIGHT = 28;
const LANE_WIDTH = 7;

/** The boxes beside which lanes are drawn. */
interface LaneArea {
  readonly boxes: readonly Box[];
  /** The box that contains all others, if any. Arrows touch it from inside, at its header. */
  readonly container?: string;
  readonly gap: number;
  /** The x coordinates at which the lanes on the left and on the right start. */
  readonly edges: Point;
}

/** The widths of the lanes on either side, and the routed arrows. */
export interface Lanes {
  readonly left: number;
  readonly right: number;
  readonly routes: readonly RoutedArrow[];
}

/** An arrow with the boxes at its ends. */
interface Hop {
  readonly arrow: Arrow;
  readonly from: Box;
  readonly to: Box;
}

/** Returns the y coordinate at which arrows touch a box. */
export const middleY = ({ y, height, item }: Box): number =>
  item.children.length > 0 ? y + HEAD_HEIGHT / 2 : y + height / 2;

const containsBox = (outer: Box, inner: Box): boolean =>
  outer !== inner && outer.x <= inner.x && outer.y <= inner.y && outer.y + outer.height >= inner.y + inner.height;

/** Routes downward arrows on the right of the boxes, and upward arrows on the left. */
export function routeBeside(
  { boxes, container, gap, edges: [leftEdge, rightEdge] }: LaneArea,
  arrows: readonly Arrow[],
): Lanes {
  const boxesById = new Map(boxes.map((box) => [box.item.id, box]));
  const hops = arrows.flatMap((arrow): Hop[] => {
    const [from, to] = [boxesById.get(arrow.from), boxesById.get(arrow.to)];
    return from && to ? [{ arrow, from, to }] : [];
  });
  const isStraight = (hop: Hop) => isNeighbour(hop, gap);
  const sideHops = hops.filter((hop) => !isStraight(hop));
  const leftLanes = assignLanes(sideHops.filter(goesLeft));
  const rightLanes = assignLanes(sideHops.filter((hop) => !goesLeft(hop)));
  const routes = hops.map((hop): RoutedArrow => {
    const { arrow } = hop;
    if (isStraight(hop)) return { arrow, points: straightPoints(hop, hops) };
    const lane = leftLanes.get(hop);
    const x =
      lane === undefined
        ? rightEdge + LANE_WIDTH * ((rightLanes.get(hop) ?? 0) + 1)
        : leftEdge - LANE_WIDTH * (lane + 1);
    return { arrow, points: lanePoints(hop, x, { isLeft: lane !== undefined, containerId: container }) };
  });
  return { left: lanesWidth(leftLanes), right: lanesWidth(rightLanes), routes };
}

const lanesWidth = (lanes: ReadonlyMap<Hop, number>): number =>
  lanes.size === 0 ? 0 : LANE_WIDTH * (Math.max(...lanes.values()) + 1);

function isNeighbour({ from, to }: Hop, maxGap: number): boolean {
  const [upper, lower] = from.y < to.y ? [from, to] : [to, from];
  const gap = lower.y - (upper.y + upper.height);
  return !containsBox(from, to) && !containsBox(to, from) && gap >= 0 && gap <= maxGap;
}

const goesLeft = ({ from, to }: Hop): boolean => (to.y < from.y ? !containsBox(to, from) : containsBox(from, to));

/** Assigns each arrow the innermost lane that is free over its whole length, shortest arrows first. */
function assignLanes(hops: readonly Hop[]): Map<Hop, number> {
  const verticalSpan = ({ from, to }: Hop): Point => [
    Math.min(middleY(from), middleY(to)) - 5,
    Math.max(middleY(from), middleY(to)) + 5,
  ];
  const spanLength = (hop: Hop) => verticalSpan(hop)[1] - verticalSpan(hop)[0];
  const lanes = new Map<Hop, number>();
  for (const hop of hops.toSorted((left, right) => spanLength(left) - spanLength(right))) {
    const [top, bottom] = verticalSpan(hop);
    const met = [...lanes]
      .filter(([other]) => verticalSpan(other)[0] < bottom && verticalSpan(other)[1] > top)
      .map(([, lane]) => lane);
    let lane = 0;
    while (met.includes(lane)) lane += 1;
    lanes.set(hop, lane);
  }
  return lanes;
}

function straightPoints({ arrow, from, to }: Hop, hops: readonly Hop[]): Point[] {
  const isBothWays = hops.some((other) => other.arrow.from === arrow.to && other.arrow.to === arrow.from);
  const goesDown = from.y < to.y;
  const narrowerBox = from.width < to.width ? from : to;
  const x = narrowerBox.x + narrowerBox.width / 2 + (isBothWays ? (goesDown ? -10 : 10) : 0);
  return goesDown
    ? [
        [x, from.y + from.height],
        [x, to.y],
      ]
    : [
        [x, from.y],
        [x, to.y + to.height],
      ];
}

interface LaneOptions {
  readonly isLeft: boolean;
  readonly containerId: string | undefined;
}

/** Returns the points of an arrow that leaves a box, follows its lane and enters the other box. */
function lanePoints({ from, to }: Hop, x: number, { isLeft, containerId }: LaneOptions): Point[] {
  const boxEdge = (box: Box) => (isLeft ? box.x : box.x + box.width);
  const pointAtHeader = (box: Box): Point[] => [[x, box.y + HEAD_HEIGHT - 6]];
  const startPoints: Point[] =
    from.item.id === containerId
      ? pointAtHeader(from)
      : [
          [boxEdge(from), middleY(from) + 4],
          [x, middleY(from) + 4],
        ];
  const endPoints: Point[] =
    to.item.id === containerId
      ? pointAtHeader(to)
      : [
          [x, middleY(to) - 4],
          [boxEdge(to), middleY(to) - 4],
        ];
  return [...startPoints, ...endPoints];
}
