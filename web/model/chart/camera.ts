/** Computes the visible part and the scale of a chart, and moves between states with the arrow keys. */
import type { Drawing, DrawnState } from '../../../inspect/protocol.ts';

/** Position of the drawing's top left corner in the panel, and its scale. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** Inner size of the panel, in CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Minimum scale of the default view, below which text would be too small to read. */
const MIN_DEFAULT_SCALE = 0.85;
const MIN_SCALE = 0.2;
const MAX_SCALE = 3;

/**
 * Returns the default view of a drawing. It shows the whole drawing if the text would still be legible, otherwise the
 * part around `focusBox`.
 */
export function cameraAt(size: Size, drawing: Size, focusBox?: DrawnState, minScale = MIN_DEFAULT_SCALE): Camera {
  const fittingScale = Math.min(size.width / drawing.width, size.height / drawing.height);
  const scale = Math.min(1, Math.max(minScale, fittingScale));
  const alignAxis = (available: number, length: number, middle: number) =>
    length * scale <= available
      ? (available - length * scale) / 2
      : Math.min(0, Math.max(available - length * scale, available / 2 - middle * scale));
  const focusCenter = focusBox
    ? { x: focusBox.x + focusBox.width / 2, y: focusBox.y + focusBox.height / 2 }
    : { x: 0, y: 0 };
  return {
    x: Math.round(alignAxis(size.width, drawing.width, focusCenter.x)),
    y: Math.round(alignAxis(size.height, drawing.height, focusCenter.y)),
    scale,
  };
}

/** Returns the view of the whole drawing, however small its scale is. */
export const fitCamera = (size: Size, drawing: Size): Camera => cameraAt(size, drawing, undefined, MIN_SCALE);

/** Zooms around a point of the panel. The part of the drawing at that point does not move. */
export function zoomCamera({ x, y, scale }: Camera, factor: number, [atX, atY]: readonly [number, number]): Camera {
  const nextScale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale * factor));
  const scaleRatio = nextScale / scale;
  return { x: atX - (atX - x) * scaleRatio, y: atY - (atY - y) * scaleRatio, scale: nextScale };
}

/** Moves the view, but always leaves a part of the drawing visible. */
export function moveCamera(camera: Camera, [byX, byY]: readonly [number, number], size: Size, drawing: Size): Camera {
  const clampPosition = (at: number, length: number, available: number) =>
    Math.min(available - 48, Math.max(48 - length * camera.scale, at));
  return {
    x: clampPosition(camera.x + byX, drawing.width, size.width),
    y: clampPosition(camera.y + byY, drawing.height, size.height),
    scale: camera.scale,
  };
}

const DIRECTIONS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['ArrowRight', [1, 0]],
  ['ArrowLeft', [-1, 0]],
  ['ArrowDown', [0, 1]],
  ['ArrowUp', [0, -1]],
]);

/**
 * Returns the next box in the direction of an arrow key. Boxes connected by a transition take precedence over nearer
 * ones.
 */
export function boxInDirection({ states, ways }: Drawing, from: DrawnState, key: string): DrawnState | undefined {
  const direction = DIRECTIONS.get(key);
  if (direction === undefined) return undefined;
  const connectedStates = new Set(
    ways.flatMap((way) => (way.from === from.state ? [way.to] : way.to === from.state ? [way.from] : [])),
  );
  const offsetTo = (state: DrawnState) => offsetAlong(from, state, direction);
  const candidateBoxes = states.filter(
    (state) => state !== from && offsetTo(state).ahead > 0 && offsetTo(state).aside <= offsetTo(state).ahead * 2,
  );
  const nearestBox = (boxes: readonly DrawnState[]) =>
    boxes.toSorted((a, b) => directedDistance(offsetTo(a)) - directedDistance(offsetTo(b)))[0];
  return nearestBox(candidateBoxes.filter(({ state }) => connectedStates.has(state))) ?? nearestBox(candidateBoxes);
}

const directedDistance = ({ ahead, aside }: { ahead: number; aside: number }): number => ahead + 2 * aside;

function offsetAlong(from: DrawnState, to: DrawnState, [x, y]: readonly [number, number]) {
  const centerOffset = [
    to.x + to.width / 2 - from.x - from.width / 2,
    to.y + to.height / 2 - from.y - from.height / 2,
  ] as const;
  return {
    ahead: centerOffset[0] * x + centerOffset[1] * y,
    aside: Math.abs(centerOffset[0] * y) + Math.abs(centerOffset[1] * x),
  };
}
