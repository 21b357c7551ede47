/** Places each arrow's label beside a segment of the arrow, where it overlaps no box and no other label. */
import type { Point } from './lanes.ts';

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const GAP = 5;

export const doOverlap = (first: Rectangle, second: Rectangle): boolean =>
  first.x < second.x + second.width &&
  second.x < first.x + first.width &&
  first.y < second.y + second.height &&
  second.y < first.y + first.height;

/** Returns the position of a label of the given size, or undefined if there is no space for the label. */
export function findLabelRectangle(
  points: readonly Point[],
  size: { readonly width: number; readonly height: number },
  occupied: readonly Rectangle[],
  bounds: Rectangle,
): Rectangle | undefined {
  const candidates = segmentsByLength(points).flatMap((stretch) => rectanglesBeside(stretch, size));
  return candidates.find((place) => isWithin(place, bounds) && !occupied.some((other) => doOverlap(place, other)));
}

const isWithin = (rectangle: Rectangle, bounds: Rectangle): boolean =>
  rectangle.x >= bounds.x &&
  rectangle.y >= bounds.y &&
  rectangle.x + rectangle.width <= bounds.x + bounds.width &&
  rectangle.y + rectangle.height <= bounds.y + bounds.height;

/** The size of a label that contains a count of up to four characters. */
const COUNT_SIZE = { width: 36, height: 15 };

/** Returns the position of an arrow's count. It lies on the arrow and overlaps nothing else. */
export function findCountRectangle(points: readonly Point[], occupied: readonly Rectangle[]): Rectangle | undefined {
  const longSegments = segmentsByLength(points).filter(([from, to]) => segmentLength([from, to]) >= MIN_SEGMENT_LENGTH);
  const candidates = longSegments.flatMap(([[x1, y1], [x2, y2]]) =>
    SEGMENT_FRACTIONS.map((part) => ({
      x: x1 + (x2 - x1) * part - COUNT_SIZE.width / 2,
      y: y1 + (y2 - y1) * part - COUNT_SIZE.height / 2,
      ...COUNT_SIZE,
    })),
  );
  return candidates.find((place) => !occupied.some((other) => doOverlap(place, other)));
}

/** Minimum length of a segment on which a count is placed. The count would hide a shorter segment. */
const MIN_SEGMENT_LENGTH = 30;

const segmentLength = ([[x1, y1], [x2, y2]]: Segment): number => Math.abs(x2 - x1) + Math.abs(y2 - y1);

type Segment = readonly [Point, Point];

/** Returns the segments of an arrow, longest first. */
function segmentsByLength(points: readonly Point[]): Segment[] {
  const segments = points.slice(1).map((point, index): Segment => [points[index] ?? point, point]);
  return segments.toSorted((left, right) => segmentLength(right) - segmentLength(left));
}

/** Relative positions along a segment. They are tried in this order, from the middle outwards. */
const SEGMENT_FRACTIONS = [
  0.5,
  ...Array.from({ length: 18 }, (_, index) => (index + 1) / 40).flatMap((far) => [0.5 - far, 0.5 + far]),
];

function rectanglesBeside(
  [[x1, y1], [x2, y2]]: Segment,
  { width, height }: { width: number; height: number },
): Rectangle[] {
  const isHorizontal = Math.abs(x2 - x1) > Math.abs(y2 - y1);
  return SEGMENT_FRACTIONS.flatMap((part) => {
    const [x, y] = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
    const corners = isHorizontal
      ? [
          [x - width / 2, y - height - GAP],
          [x - width / 2, y + GAP],
        ]
      : [
          [x + GAP + 3, y - height / 2],
          [x - width - GAP - 3, y - height / 2],
        ];
    return corners.map(([left = 0, top = 0]) => ({ x: Math.round(left), y: Math.round(top), width, height }));
  });
}
