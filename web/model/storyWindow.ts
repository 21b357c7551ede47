/** The time range shown by the lanes and marked on the rail. */

export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Duration and end of the time range. Without `to`, the end follows the latest known time. */
export interface WindowChoice {
  readonly spanMs: number;
  readonly to?: number;
}

/** About six minutes, which covers the longest back-off of a container and the events that led to it. */
export const FIRST_WINDOW: WindowChoice = { spanMs: 344_000 };

/** Fraction of the time range after the latest known time, reserved for expected events. */
const AHEAD = 0.18;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 24 * 3_600_000;

/** The time range that the user can navigate to. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Returns the time range. `last` is the latest known time. The range is shifted only if `at` would be outside. */
export function windowOf({ spanMs, to }: WindowChoice, at: number, last: number): TimeWindow {
  const end = to ?? last + spanMs * AHEAD;
  const isWithin = at <= end && at >= end - spanMs;
  const shown = isWithin ? end : at + spanMs * AHEAD;
  return { from: shown - spanMs, to: shown };
}

/** Shifts the time range within the bounds. */
export function moved({ from, to }: TimeWindow, byMs: number, bounds: Bounds): WindowChoice {
  const spanMs = to - from;
  const latest = bounds.to + spanMs * AHEAD;
  const earliest = Math.min(latest, bounds.from + spanMs * AHEAD);
  return { spanMs, to: Math.min(latest, Math.max(earliest, to + byMs)) };
}

/** Scales the time range by a factor around a fixed time. A range that follows the latest time continues to do so. */
export function zoomed(choice: WindowChoice, { from, to }: TimeWindow, factor: number, around: number): WindowChoice {
  const spanMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (to - from) * factor));
  if (choice.to === undefined) return { spanMs };
  const share = (to - around) / Math.max(1, to - from);
  return { spanMs, to: around + share * spanMs };
}

/** Moves the start or end of the time range, at most up to the opposite edge. */
export function resized({ from, to }: TimeWindow, edge: 'from' | 'to', at: number): WindowChoice {
  return edge === 'from'
    ? { spanMs: Math.max(SHORTEST_MS, to - at), to }
    : { spanMs: Math.max(SHORTEST_MS, at - from), to: Math.max(at, from + SHORTEST_MS) };
}
