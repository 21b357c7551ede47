/** The stretch of time that the lanes show, and that the rail frames. */

/** A stretch of time. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** How long the window is, and where it stands; without `to` it goes along with what is known last. */
export interface WindowChoice {
  readonly spanMs: number;
  readonly to?: number;
}

/** About six minutes, as long as the longest wait of a container and what led to it. */
export const FIRST_WINDOW: WindowChoice = { spanMs: 344_000 };

/** So much of the window lies ahead of the moment that is shown: for what is known to come. */
const AHEAD = 0.18;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 24 * 3_600_000;

/** What may be gone back to. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** The window, `last` being the end of what is known. It moves for a moment only when that would be out of it. */
export function windowOf({ spanMs, to }: WindowChoice, at: number, last: number): TimeWindow {
  const end = to ?? last + spanMs * AHEAD;
  const isWithin = at <= end && at >= end - spanMs;
  const shown = isWithin ? end : at + spanMs * AHEAD;
  return { from: shown - spanMs, to: shown };
}

/** The window moved by so much, as far as there is something to see. */
export function moved({ from, to }: TimeWindow, byMs: number, bounds: Bounds): WindowChoice {
  const spanMs = to - from;
  const latest = bounds.to + spanMs * AHEAD;
  const earliest = Math.min(latest, bounds.from + spanMs * AHEAD);
  return { spanMs, to: Math.min(latest, Math.max(earliest, to + byMs)) };
}

/** The window longer or shorter by a factor, a moment of it staying in its place; one that goes along goes on doing so. */
export function zoomed(choice: WindowChoice, { from, to }: TimeWindow, factor: number, around: number): WindowChoice {
  const spanMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (to - from) * factor));
  if (choice.to === undefined) return { spanMs };
  const share = (to - around) / Math.max(1, to - from);
  return { spanMs, to: around + share * spanMs };
}

/** The window with another beginning or end, which does not pass the other one. */
export function resized({ from, to }: TimeWindow, edge: 'from' | 'to', at: number): WindowChoice {
  return edge === 'from'
    ? { spanMs: Math.max(SHORTEST_MS, to - at), to }
    : { spanMs: Math.max(SHORTEST_MS, at - from), to: Math.max(at, from + SHORTEST_MS) };
}
