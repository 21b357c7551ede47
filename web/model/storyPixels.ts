/** Converts times to pixel positions and merges elements that are too close to each other. */
import type { Bar } from './storyBars.ts';
import type { Mark, Run } from './storyLanes.ts';
import { shortState } from './storyWho.ts';
import { minuteText, tookText } from './storyWords.ts';
import { clockOf, dateOf } from './time.ts';

/** Maps a time range to a pixel range. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
}

/** Returns the position of a time, which is outside the pixel range if the time is outside the time range. */
export const xOf = ({ from, to, left, right }: Scale, at: number): number =>
  left + ((at - from) / Math.max(1, to - from)) * (right - left);

/** Returns the time at a position. */
export const momentOf = ({ from, to, left, right }: Scale, x: number): number =>
  from + ((x - left) / Math.max(1, right - left)) * (to - from);

/** A bar with its position. */
export interface PlacedBar extends Bar {
  readonly x: number;
  readonly width: number;
  /** Whether the bar represents several that are too short to be drawn. It has the state of the longest one. */
  readonly isBlip: boolean;
}

/** Minimum width of a bar. */
const BLIP = 3.4;
/** Gap between two bars. */
const GAP = 0.6;

/** Positions the visible bars from left to right without overlap. */
export function placedBars(bars: readonly Bar[], scale: Scale): PlacedBar[] {
  const placed: PlacedBar[] = [];
  let blip: { readonly x: number; readonly bar: Bar } | undefined;
  let end = scale.left;
  const flush = () => {
    if (!blip) return;
    placed.push({ ...blip.bar, x: blip.x, width: BLIP, isBlip: true });
    end = blip.x + BLIP + GAP;
    blip = undefined;
  };
  for (const bar of bars) {
    if (bar.to < scale.from || bar.from > scale.to) continue;
    const natural = Math.max(xOf(scale, bar.from), scale.left);
    const right = Math.min(xOf(scale, bar.to), scale.right);
    if (blip && natural >= blip.x + BLIP + GAP) flush();
    const left = Math.max(natural, blip ? blip.x + BLIP + GAP : end);
    if (right - left < BLIP) {
      if (!blip) blip = { x: Math.max(natural, end), bar };
      else if (bar.to - bar.from > blip.bar.to - blip.bar.from) blip = { x: blip.x, bar };
      continue;
    }
    flush();
    const x = Math.max(natural, end);
    placed.push({ ...bar, x, width: right - x, isBlip: false });
    end = right;
  }
  flush();
  return placed;
}

/** Marks merged at one position. */
export interface PlacedMark {
  readonly x: number;
  readonly marks: readonly Mark[];
  readonly isBad: boolean;
}

/** Marks closer than this are merged. */
const BURST = 6;

/** Positions the visible marks. Merged marks have the position of the first one. */
export function placedMarks(marks: readonly Mark[], scale: Scale): PlacedMark[] {
  const placed: { readonly x: number; readonly marks: Mark[]; isBad: boolean; last: number }[] = [];
  for (const mark of marks) {
    if (mark.at < scale.from || mark.at > scale.to) continue;
    const x = xOf(scale, mark.at);
    const near = placed.at(-1);
    if (near && x - near.x < BURST) {
      near.marks.push(mark);
      near.isBad ||= mark.isBad;
    } else placed.push({ x, marks: [mark], isBad: mark.isBad, last: x });
  }
  return placed;
}

/** A text on an axis. */
export interface Label {
  readonly x: number;
  readonly text: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const TICKS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1_440].map((minutes) => minutes * MINUTE),
];
/** Minimum distance between labels. */
const BETWEEN_TICKS = 84;

/** A label at a time. */
export interface Tick extends Label {
  readonly at: number;
}

/** Returns labels at round times. A label at midnight shows the date. */
export function ticksOf(scale: Scale, between = BETWEEN_TICKS): Tick[] {
  const perPixel = (scale.to - scale.from) / Math.max(1, scale.right - scale.left);
  const step = TICKS.find((each) => each / perPixel >= between) ?? TICKS.at(-1) ?? MINUTE;
  const first = Math.ceil(scale.from / step) * step;
  const text = step < MINUTE ? clockOf : minuteText;
  return Array.from({ length: Math.max(0, Math.floor((scale.to - first) / step) + 1) }, (_, index) => {
    const at = first + index * step;
    return { at, x: xOf(scale, at), text: at % DAY === 0 ? dateOf(at) : text(at) };
  });
}

/** Returns the longest text that fits into a bar. Empty if none does. */
export function barText({ state, tag, from, to }: Bar, width: number, until?: number): string {
  const short = shortState(state);
  const took = tookText((until ?? to) - from);
  const isWait = tag === 'retrying' || tag === 'waiting';
  const choices = tag === 'steady' || tag === 'done' ? [short] : [`${short} ${took}`, isWait ? took : short];
  return choices.find((each) => each.length * CHARACTER + 2 * PADDING <= width) ?? '';
}

/** Approximate width of a character. */
const CHARACTER = 6;
const PADDING = 6;

/** Returns labels with run numbers below the starts of the runs. Runs that are too close share a label. */
export function runLabels(runs: readonly Run[], scale: Scale): Label[] {
  const groups: { from: number; to: number; runs: number[] }[] = [];
  for (const { at, run } of runs) {
    if (at < scale.from || at > scale.to) continue;
    const x = xOf(scale, at);
    const near = groups.at(-1);
    if (near && x - near.to < NEAR_RUN) {
      near.to = x;
      near.runs.push(run);
    } else groups.push({ from: x, to: x, runs: [run] });
  }
  return groups.map(({ from, to, runs: its }, index) => {
    const x = (from + to) / 2;
    const room = x - (groups[index - 1]?.to ?? Number.NEGATIVE_INFINITY);
    const numbers = its.length > 3 ? `${its[0]}–${its.at(-1)}` : its.join(', ');
    return { x, text: its.length === 1 && room > ROOM_FOR_WORD ? `run ${numbers}` : numbers };
  });
}

const NEAR_RUN = 14;
const ROOM_FOR_WORD = 60;
