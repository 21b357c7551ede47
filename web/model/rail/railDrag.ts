/** Computes the effect of dragging on the rail, which moves the displayed time, the time range or one of its edges. */
import type { RangeChoice, TimeRange } from '../story/storyWindow.ts';
import { resizeRange, shiftRange } from '../story/storyWindow.ts';

/** The dragged part of the rail. */
export type DragTarget = 'head' | 'window' | 'from' | 'to';

/** Position where the drag started. `at` is the corresponding time. */
export interface DragStart {
  readonly target: DragTarget;
  readonly at: number;
  readonly range: TimeRange;
}

/** Distance within which an edge is grabbed, in pixels. */
const EDGE_PX = 5;

/**
 * Returns the part of the rail at a position. In the upper half, the edges of the time range can be dragged. Elsewhere,
 * the range itself is dragged with Shift, otherwise the displayed time.
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

/** Returns the step of a key on the slider, in milliseconds. Undefined for other keys. */
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
