/**
 * Builds the view of the rail, which shows the whole recording as bars and marks. Horizontal positions are fractions of
 * the rail's width.
 */

import { humanDuration } from '../../../base/time/duration.ts';
import type { Rail } from '../../../inspect/protocol.ts';
import { axisTicks, type Tick } from '../story/lanes/storyPixels.ts';
import { formatClock } from './time.ts';

/** A bar whose height shows the number of inputs in a time range. */
interface RailBar {
  /** Left edge as a fraction of the rail's width, from 0 to 1. */
  readonly x: number;
  readonly width: number;
  /** Height as a fraction of the rail's height, from 0 to 1. */
  readonly height: number;
  readonly isInWindow: boolean;
}

export interface RailView {
  readonly from: number;
  readonly to: number;
  readonly bars: readonly RailBar[];
  /** Positions of failures, as fractions of the rail's width. */
  readonly failures: readonly number[];
  readonly restarts: readonly number[];
}

/** Approximate maximum number of bars. */
const MAX_BARS = 200;
/** Minimum height of a bar that is not empty. */
const MIN_BAR_HEIGHT = 0.07;

/** Builds the view of the rail up to `to`, which may be later than the end of the received data. */
export function railView(rail: Rail, to: number, window: { readonly from: number; readonly to: number }): RailView {
  const { from } = rail;
  const end = Math.max(to, rail.to);
  const spanMs = Math.max(1, end - from);
  const bucketsPerBar = Math.max(1, Math.ceil(spanMs / rail.bucketMs / MAX_BARS));
  const counts = sumGroups(rail.counts, bucketsPerBar);
  const maxCount = counts.reduce((a, b) => Math.max(a, b), 1);
  const barWidth = (bucketsPerBar * rail.bucketMs) / spanMs;
  const fractionAt = (at: number) => (at - from) / spanMs;
  return {
    from,
    to: end,
    bars: counts.flatMap((count, index) => {
      const at = from + index * bucketsPerBar * rail.bucketMs;
      if (count === 0) return [];
      const isInWindow = at + bucketsPerBar * rail.bucketMs > window.from && at < window.to;
      return [{ x: fractionAt(at), width: barWidth, height: barHeight(count, maxCount), isInWindow }];
    }),
    failures: rail.failures.map(fractionAt),
    restarts: rail.restarts.filter((at) => at > from).map(fractionAt),
  };
}

/**
 * Returns a height that grows linearly with the square root of the count, from a minimum height, so that small counts
 * remain visible and large counts remain distinguishable.
 */
const barHeight = (count: number, maxCount: number): number =>
  MIN_BAR_HEIGHT + (1 - MIN_BAR_HEIGHT) * Math.sqrt(count / maxCount);

function sumGroups(counts: readonly number[], size: number): number[] {
  const groupSums = Array<number>(Math.ceil(counts.length / size)).fill(0);
  counts.forEach((count, index) => {
    const groupIndex = Math.floor(index / size);
    groupSums[groupIndex] = (groupSums[groupIndex] ?? 0) + count;
  });
  return groupSums;
}

/** Returns the time labels below the rail. Their positions are in pixels. */
export const railTicks = ({ from, to }: Pick<RailView, 'from' | 'to'>, width: number): readonly Tick[] =>
  axisTicks({ from, to, left: 0, right: width }, 110).filter(({ x }) => x > 16 && x < width - 16);

/** Formats the duration of the recording, e.g. `30 min recorded`. */
export function recordedText({ from, to }: Pick<RailView, 'from' | 'to'>): string {
  const ms = to - from;
  return ms < 120_000 ? `${humanDuration(ms)} recorded` : `${roundedDuration(ms)} recorded`;
}

function roundedDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 180 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

interface ClockState {
  readonly at: number;
  readonly live: number;
  readonly mode: 'live' | 'past' | 'held' | 'file';
  /** Number of events since the view was frozen. */
  readonly eventCount?: number;
}

/** Returns the note that is displayed below the clock. */
export function clockNote({ at, live, mode, eventCount = 0 }: ClockState): string {
  if (mode === 'past') return `${humanDuration(Math.max(0, live - at))} ago, UTC`;
  if (mode === 'held') return `held, ${eventCount} ${eventCount === 1 ? 'event' : 'events'} since`;
  return 'UTC';
}

/** Returns the time as the slider announces it to screen readers. */
export function spokenTime(state: ClockState): string {
  const { at, mode } = state;
  if (mode === 'live') return `${formatClock(at)}, live`;
  return mode === 'file' ? formatClock(at) : `${formatClock(at)}, ${clockNote(state).replace(', UTC', '')}`;
}
