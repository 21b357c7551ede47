/** Where on a line of time things stand, in pixels: what is too near to be told apart is one. */
import type { Bar } from './storyBars.ts';
import type { Mark, Run } from './storyLanes.ts';
import { shortState } from './storyWho.ts';
import { minuteText, tookText } from './storyWords.ts';
import { clockOf, dateOf } from './time.ts';

/** A stretch of time on a stretch of pixels. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
}

/** Where a moment stands; one outside the stretch stands outside. */
export const xOf = ({ from, to, left, right }: Scale, at: number): number =>
  left + ((at - from) / Math.max(1, to - from)) * (right - left);

/** The moment that stands at a place. */
export const momentOf = ({ from, to, left, right }: Scale, x: number): number =>
  from + ((x - left) / Math.max(1, right - left)) * (to - from);

/** A bar where it is drawn. */
export interface PlacedBar extends Bar {
  readonly x: number;
  readonly width: number;
  /** It stands for several that are too short to be told apart: the one of them that lasted longest. */
  readonly isBlip: boolean;
}

/** A bar is never drawn narrower. */
const BLIP = 3.4;
/** Between two bars. */
const GAP = 0.6;

/** Bars within the scale, from left to right without overlapping. */
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

/** Marks that stand so near to each other that they are one. */
export interface PlacedMark {
  readonly x: number;
  readonly marks: readonly Mark[];
  readonly isBad: boolean;
}

/** Two marks nearer than this are one burst. */
const BURST = 6;

/** Marks within the scale, those of a burst together at the place of its first. */
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
/** Labels stand no nearer to each other. */
const BETWEEN_TICKS = 84;

/** A text at a moment. */
export interface Tick extends Label {
  readonly at: number;
}

/** Round moments with room between them; at midnight stands the day that begins. */
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

/** What stands within a bar of a width; the last of what may be said that fits, from the most to the least. */
export function barText({ state, tag, from, to }: Bar, width: number, until?: number): string {
  const short = shortState(state);
  const took = tookText((until ?? to) - from);
  const isWait = tag === 'retrying' || tag === 'waiting';
  const choices = tag === 'steady' || tag === 'done' ? [short] : [`${short} ${took}`, isWait ? took : short];
  return choices.find((each) => each.length * CHARACTER + 2 * PADDING <= width) ?? '';
}

/** About the width of one in the charts' labels. */
const CHARACTER = 6;
const PADDING = 6;

/** The numbers of runs below their beginnings; those too near to each other share one label. */
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
