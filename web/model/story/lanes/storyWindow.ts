/** Computes the time range that the lanes show and that is marked on the rail. */

export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Duration and end of the time range. If `to` is undefined, the end follows the latest known time. */
export interface RangeChoice {
  readonly spanMs: number;
  readonly to?: number;
}

/**
 * The default range of about six minutes, which covers a container's longest back-off and the events that led to it.
 */
export const DEFAULT_RANGE: RangeChoice = { spanMs: 344_000 };

/** Fraction of the time range that is after the latest known time, to show what is expected to happen. */
const FUTURE_SHARE = 0.18;
const MIN_SPAN_MS = 2_000;
const MAX_SPAN_MS = 24 * 3_600_000;

/** The time range to which the user can navigate. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Returns the visible time range. It is shifted only if it would not include `at`. */
export function visibleRange({ spanMs, to }: RangeChoice, at: number, latestTime: number): TimeRange {
  const end = to ?? latestTime + spanMs * FUTURE_SHARE;
  const isTimeVisible = at <= end && at >= end - spanMs;
  const visibleEnd = isTimeVisible ? end : at + spanMs * FUTURE_SHARE;
  return { from: visibleEnd - spanMs, to: visibleEnd };
}

/** Shifts the time range within the bounds. */
export function shiftRange({ from, to }: TimeRange, byMs: number, bounds: Bounds): RangeChoice {
  const spanMs = to - from;
  const latestEnd = bounds.to + spanMs * FUTURE_SHARE;
  const earliestEnd = Math.min(latestEnd, bounds.from + spanMs * FUTURE_SHARE);
  return { spanMs, to: Math.min(latestEnd, Math.max(earliestEnd, to + byMs)) };
}

/** Scales the time range around a fixed time. A range that follows the latest time continues to follow it. */
export function zoomRange(choice: RangeChoice, { from, to }: TimeRange, factor: number, around: number): RangeChoice {
  const spanMs = Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, (to - from) * factor));
  if (choice.to === undefined) return { spanMs };
  const endFraction = (to - around) / Math.max(1, to - from);
  return { spanMs, to: around + endFraction * spanMs };
}

/** Moves the start or the end of the time range, but not beyond the other edge. */
export function resizeRange({ from, to }: TimeRange, edge: 'from' | 'to', at: number): RangeChoice {
  return edge === 'from'
    ? { spanMs: Math.max(MIN_SPAN_MS, to - at), to }
    : { spanMs: Math.max(MIN_SPAN_MS, at - from), to: Math.max(at, from + MIN_SPAN_MS) };
}
