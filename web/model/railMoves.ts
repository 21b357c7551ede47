/** What a hand does on the rail: it drags the moment, or the window by its middle or one of its edges. */
import type { TimeWindow, WindowChoice } from './storyWindow.ts';
import { moved, resized } from './storyWindow.ts';

/** What of the rail is held. */
export type Held = 'head' | 'window' | 'from' | 'to';

/** Where the hand came down, in milliseconds of the rail. */
export interface Grip {
  readonly held: Held;
  readonly at: number;
  readonly window: TimeWindow;
}

/** An edge is taken hold of this near, in pixels. */
const EDGE = 5;

/** What a hand takes hold of at a place: the edges of the window in its upper half, its middle with Shift, else the moment. */
export function heldAt(
  x: number,
  window: { readonly left: number; readonly right: number },
  { isShifted, isUpper }: { isShifted: boolean; isUpper: boolean },
): Held {
  if (isUpper && Math.abs(x - window.left) <= EDGE) return 'from';
  if (isUpper && Math.abs(x - window.right) <= EDGE && window.right - window.left > 4 * EDGE) return 'to';
  return isShifted && x > window.left && x < window.right ? 'window' : 'head';
}

/** The window while it is dragged to a moment; undefined: the moment is what is dragged. */
export function draggedWindow(
  { held, at, window }: Grip,
  to: number,
  bounds: { readonly from: number; readonly to: number },
): WindowChoice | undefined {
  if (held === 'head') return undefined;
  return held === 'window' ? moved(window, to - at, bounds) : resized(window, held, to);
}

/** So far a key of the slider goes, in milliseconds; undefined: the key is none of its. */
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
