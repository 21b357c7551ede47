/** The rail: all of a recording as bars, marks and words, in shares of its width. */

import { humanDuration } from '../../base/duration.ts';
import type { Rail } from '../../inspect/protocol.ts';
import { type Tick, ticksOf } from './storyPixels.ts';
import { clockOf } from './time.ts';

/** A bar of the rail: how much entered in a stretch of time. */
interface RailBar {
  /** From 0 to 1, as `width`. */
  readonly x: number;
  readonly width: number;
  /** From 0 to 1. */
  readonly height: number;
  readonly isInWindow: boolean;
}

/** What is drawn of the rail. */
export interface RailView {
  readonly from: number;
  readonly to: number;
  readonly bars: readonly RailBar[];
  /** Where something failed. */
  readonly failures: readonly number[];
  readonly restarts: readonly number[];
}

/** About so many bars are told apart. */
const MOST_BARS = 200;
/** The lowest that something is drawn. */
const LOWEST = 0.07;

/** The rail up to a moment, which may be later than what was told of it. */
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

/** Few are told from none, and many from more. */
const heightOf = (count: number, most: number): number => LOWEST + (1 - LOWEST) * Math.sqrt(count / most);

function inGroups(counts: readonly number[], size: number): number[] {
  const groups = Array<number>(Math.ceil(counts.length / size)).fill(0);
  counts.forEach((count, index) => {
    const group = Math.floor(index / size);
    groups[group] = (groups[group] ?? 0) + count;
  });
  return groups;
}

/** The labels below the rail, in pixels of its width. */
export const railTicks = ({ from, to }: Pick<RailView, 'from' | 'to'>, width: number): readonly Tick[] =>
  ticksOf({ from, to, left: 0, right: width }, 110).filter(({ x }) => x > 16 && x < width - 16);

/** `30 min recorded`. */
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
  /** While held: how much has happened since. */
  readonly since?: number;
}

/** What stands below the clock. */
export function clockNote({ at, live, mode, since = 0 }: Shown): string {
  if (mode === 'past') return `${humanDuration(Math.max(0, live - at))} ago, UTC`;
  if (mode === 'held') return `held, ${since} ${since === 1 ? 'event' : 'events'} since`;
  return 'UTC';
}

/** The moment as the slider reads it. */
export function spokenMoment(shown: Shown): string {
  const { at, mode } = shown;
  if (mode === 'live') return `${clockOf(at)}, live`;
  return mode === 'file' ? clockOf(at) : `${clockOf(at)}, ${clockNote(shown).replace(', UTC', '')}`;
}
