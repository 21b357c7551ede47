/** The rail, which shows the whole recording as bars and marks. Positions are fractions of its width. */

import { humanDuration } from '../../base/duration.ts';
import type { Rail } from '../../inspect/protocol.ts';
import { type Tick, ticksOf } from './storyPixels.ts';
import { clockOf } from './time.ts';

/** A bar whose height shows the number of inputs in a time range. */
interface RailBar {
  /** Fraction of the width, from 0 to 1. */
  readonly x: number;
  readonly width: number;
  /** From 0 to 1. */
  readonly height: number;
  readonly isInWindow: boolean;
}

export interface RailView {
  readonly from: number;
  readonly to: number;
  readonly bars: readonly RailBar[];
  /** Positions of failures. */
  readonly failures: readonly number[];
  readonly restarts: readonly number[];
}

/** Approximate maximum number of bars. */
const MOST_BARS = 200;
/** Minimum height of a bar that is not empty. */
const LOWEST = 0.07;

/** Builds the rail up to `to`, which may be later than the end of the received data. */
export function railView(rail: Rail, to: number, window: { readonly from: number; readonly to: number }): RailView {
  const { from } = rail;
  const end = Math.max(to, rail.to);
  const span = Math.max(1, end - from);
  const joined = Math.max(1, Math.ceil(span / rail.bucketMs / MOST_BARS));
  const counts = inGroups(rail.counts, joined);
  const most = counts.reduce((one, other) => Math.max(one, other), 1);
  const width = (joined * rail.bucketMs) / span;
  const share = (at: number) => (at - from) / span;
  return {
    from,
    to: end,
    bars: counts.flatMap((count, index) => {
      const at = from + index * joined * rail.bucketMs;
      if (count === 0) return [];
      const isInWindow = at + joined * rail.bucketMs > window.from && at < window.to;
      return [{ x: share(at), width, height: heightOf(count, most), isInWindow }];
    }),
    failures: rail.failures.map(share),
    restarts: rail.restarts.filter((at) => at > from).map(share),
  };
}

/** Scales heights by the square root, so that small counts are visible and large ones distinguishable. */
const heightOf = (count: number, most: number): number => LOWEST + (1 - LOWEST) * Math.sqrt(count / most);

function inGroups(counts: readonly number[], size: number): number[] {
  const groups = Array<number>(Math.ceil(counts.length / size)).fill(0);
  counts.forEach((count, index) => {
    const group = Math.floor(index / size);
    groups[group] = (groups[group] ?? 0) + count;
  });
  return groups;
}

/** Returns the time labels below the rail, in pixels. */
export const railTicks = ({ from, to }: Pick<RailView, 'from' | 'to'>, width: number): readonly Tick[] =>
  ticksOf({ from, to, left: 0, right: width }, 110).filter(({ x }) => x > 16 && x < width - 16);

/** Formats the duration of the recording, e.g. `30 min recorded`. */
export function recordedText({ from, to }: Pick<RailView, 'from' | 'to'>): string {
  const ms = to - from;
  return ms < 120_000 ? `${humanDuration(ms)} recorded` : `${lengthText(ms)} recorded`;
}

function lengthText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 180 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

interface Shown {
  readonly at: number;
  readonly live: number;
  readonly mode: 'live' | 'past' | 'held' | 'file';
  /** Number of events since the view was frozen. */
  readonly since?: number;
}

/** Returns the text below the clock. */
export function clockNote({ at, live, mode, since = 0 }: Shown): string {
  if (mode === 'past') return `${humanDuration(Math.max(0, live - at))} ago, UTC`;
  if (mode === 'held') return `held, ${since} ${since === 1 ? 'event' : 'events'} since`;
  return 'UTC';
}

/** Returns the time as announced by the slider to screen readers. */
export function spokenMoment(shown: Shown): string {
  const { at, mode } = shown;
  if (mode === 'live') return `${clockOf(at)}, live`;
  return mode === 'file' ? clockOf(at) : `${clockOf(at)}, ${clockNote(shown).replace(', UTC', '')}`;
}
