/**
 * Computes the effect of dragging on the rail, i.e. the timeline of the whole recording. The user drags the displayed
 * time, the visible time range or one of its edges.
 */
import type { RangeChoice, TimeRange } from '../story/lanes/storyWindow.ts';
import { resizeRange, shiftRange } from '../story/lanes/storyWindow.ts';

/** The part of the rail that the user drags. */
export type DragTarget = 'head' | 'window' | 'from' | 'to';

/** The start of a drag. `at` is the time at the position where it started. */
export interface DragStart {
  readonly target: DragTarget;
  readonly at: number;
  readonly range: TimeRange;
}

/** Maximum distance from an edge at which the edge can be grabbed, in pixels. */
const EDGE_PX = 5;

/**
 * Returns the part of the rail that a drag from the given position moves. In the upper part of the rail, a drag near an
 * edge of the time range moves that edge. Any other drag moves the time range if Shift is pressed within the range, and
 * otherwise moves the displayed time.
 */
export function dragTargetAt(
  x: number,
  window: { readonly left: number; readonly right: number },
  { isShifted, isUpper }: { isShifted: boolean; isUpper: boolean },
): DragTarget {
  if (isUpper && Math.abs(x - window.left) <= EDGE_PX) return 'from';
  if (isUpper && Math.abs(x - window.right) <= EDGE_PX && window.right - window.left > 4 * EDGE_PX) return 'to';
  return isShifted && x > window.left && x < window.right ? 'window' : 'head';
}

/** Returns the time range during a drag. Undefined if the displayed time is dragged. */
export function draggedRange(
  { target, at, range }: DragStart,
  to: number,
  bounds: { readonly from: number; readonly to: number },
): RangeChoice | undefined {
  if (target === 'head') return undefined;
  return target === 'window' ? shiftRange(range, to - at, bounds) : resizeRange(range, target, to);
}

/** Returns the time by which a key moves the slider, in milliseconds. Undefined for keys without an effect. */
export function keyStep(key: string, span: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return -1_000;
    case 'ArrowRight':
    case 'ArrowUp':
      return 1_000;
    case 'PageDown':
      return -span / 20;
    case 'PageUp':
      return span / 20;
    case 'Home':
      return Number.NEGATIVE_INFINITY;
    case 'End':
      return Number.POSITIVE_INFINITY;
    default:
      return undefined;
  }
}
