/** Places the labels of arrows beside a segment of the arrow, where they overlap no box and no other label. */
import type { Point } from './lanes.ts';

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const GAP = 5;

export const overlap = (one: Rectangle, other: Rectangle): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

/** Returns the position of a label of this size, or undefined if there is no space for it. */
export function labelPlace(
  points: readonly Point[],
  size: { readonly width: number; readonly height: number },
  taken: readonly Rectangle[],
  bounds: Rectangle,
): Rectangle | undefined {
  const tried = stretchesOf(points).flatMap((stretch) => placesBeside(stretch, size));
  return tried.find((place) => isWithin(place, bounds) && !taken.some((other) => overlap(place, other)));
}

const isWithin = (place: Rectangle, bounds: Rectangle): boolean =>
  place.x >= bounds.x &&
  place.y >= bounds.y &&
  place.x + place.width <= bounds.x + bounds.width &&
  place.y + place.height <= bounds.y + bounds.height;

/** The size of a label that holds a count of four characters, the longest one. */
const COUNT = { width: 36, height: 15 };

/** Returns the position of an arrow's count, which is on the arrow and overlaps nothing else. */
export function countPlace(points: readonly Point[], taken: readonly Rectangle[]): Rectangle | undefined {
  const stretches = stretchesOf(points).filter(([from, to]) => lengthOf([from, to]) >= ROOM);
  const places = stretches.flatMap(([[x1, y1], [x2, y2]]) =>
    PARTS.map((part) => ({
      x: x1 + (x2 - x1) * part - COUNT.width / 2,
      y: y1 + (y2 - y1) * part - COUNT.height / 2,
      ...COUNT,
    })),
  );
  return places.find((place) => !taken.some((other) => overlap(place, other)));
}

/** Minimum length of a segment that has a count. A count would hide a shorter segment. */
const ROOM = 30;

const lengthOf = ([[x1, y1], [x2, y2]]: Stretch): number => Math.abs(x2 - x1) + Math.abs(y2 - y1);

type Stretch = readonly [Point, Point];

/** Returns the segments of an arrow, longest first. */
function stretchesOf(points: readonly Point[]): Stretch[] {
  const all = points.slice(1).map((point, index): Stretch => [points[index] ?? point, point]);
  return all.toSorted((one, other) => lengthOf(other) - lengthOf(one));
}

/** Relative positions along a segment, in the order in which they are tried: from the middle outwards. */
const PARTS = [
  0.5,
  ...Array.from({ length: 18 }, (_, index) => (index + 1) / 40).flatMap((far) => [0.5 - far, 0.5 + far]),
];

function placesBeside(
  [[x1, y1], [x2, y2]]: Stretch,
  { width, height }: { width: number; height: number },
): Rectangle[] {
  const isLevel = Math.abs(x2 - x1) > Math.abs(y2 - y1);
  return PARTS.flatMap((part) => {
    const [x, y] = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
    const corners = isLevel
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
