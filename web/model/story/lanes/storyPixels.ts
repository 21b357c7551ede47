/** Converts times to pixel positions, and merges elements that would be too close to each other. */

import { formatClock, formatDate } from '../../rail/time.ts';
import { shortState } from '../storyWho.ts';
import { formatDuration, formatMinutes } from '../storyWords.ts';
import type { Bar } from './storyBars.ts';
import type { Mark, Run } from './storyLanes.ts';

/** Maps a time range to a pixel range. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
}

/**
 * Returns the pixel position of the given time. The position is outside the pixel range if the time is outside the time
 * range.
 */
export const toX = ({ from, to, left, right }: Scale, at: number): number =>
  left + ((at - from) / Math.max(1, to - from)) * (right - left);

/** Returns the time at the given pixel position. */
export const timeAt = ({ from, to, left, right }: Scale, x: number): number =>
  from + ((x - left) / Math.max(1, right - left)) * (to - from);

export interface PositionedBar extends Bar {
  readonly x: number;
  readonly width: number;
  /**
   * Whether the bar represents several bars that are too short to be drawn. It then has the state of the longest one.
   */
  readonly isMerged: boolean;
}

/** Minimum width of a bar, in pixels. */
const MIN_BAR_WIDTH = 3.4;
/** Gap between two bars, in pixels. */
const BAR_GAP = 0.6;

/** Positions the visible bars from left to right without overlap. */
export function positionBars(bars: readonly Bar[], scale: Scale): PositionedBar[] {
  const positionedBars: PositionedBar[] = [];
  let pendingShortBar: { readonly x: number; readonly bar: Bar } | undefined;
  let end = scale.left;
  const flushPendingShortBar = () => {
    if (!pendingShortBar) return;
    positionedBars.push({ ...pendingShortBar.bar, x: pendingShortBar.x, width: MIN_BAR_WIDTH, isMerged: true });
    end = pendingShortBar.x + MIN_BAR_WIDTH + BAR_GAP;
    pendingShortBar = undefined;
  };
  for (const bar of bars) {
    if (bar.to < scale.from || bar.from > scale.to) continue;
    const naturalX = Math.max(toX(scale, bar.from), scale.left);
    const right = Math.min(toX(scale, bar.to), scale.right);
    if (pendingShortBar && naturalX >= pendingShortBar.x + MIN_BAR_WIDTH + BAR_GAP) flushPendingShortBar();
    const left = Math.max(naturalX, pendingShortBar ? pendingShortBar.x + MIN_BAR_WIDTH + BAR_GAP : end);
    if (right - left < MIN_BAR_WIDTH) {
      if (!pendingShortBar) pendingShortBar = { x: Math.max(naturalX, end), bar };
      else if (bar.to - bar.from > pendingShortBar.bar.to - pendingShortBar.bar.from)
        pendingShortBar = { x: pendingShortBar.x, bar };
      continue;
    }
    flushPendingShortBar();
    const x = Math.max(naturalX, end);
    positionedBars.push({ ...bar, x, width: right - x, isMerged: false });
    end = right;
  }
  flushPendingShortBar();
  return positionedBars;
}

/** One or more marks at the same position. */
export interface PositionedMark {
  readonly x: number;
  readonly marks: readonly Mark[];
  readonly isFailure: boolean;
}

/** Maximum distance at which marks are merged, in pixels. */
const MERGE_DISTANCE = 6;

/** Positions the visible marks. Merged marks have the position of the first one. */
export function positionMarks(marks: readonly Mark[], scale: Scale): PositionedMark[] {
  const positionedMarks: { readonly x: number; readonly marks: Mark[]; isFailure: boolean; last: number }[] = [];
  for (const mark of marks) {
    if (mark.at < scale.from || mark.at > scale.to) continue;
    const x = toX(scale, mark.at);
    const previousMark = positionedMarks.at(-1);
    if (previousMark && x - previousMark.x < MERGE_DISTANCE) {
      previousMark.marks.push(mark);
      previousMark.isFailure ||= mark.isFailure;
    } else positionedMarks.push({ x, marks: [mark], isFailure: mark.isFailure, last: x });
  }
  return positionedMarks;
}

/** A text label on an axis. */
export interface Label {
  readonly x: number;
  readonly text: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const TICK_INTERVALS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1_440].map((minutes) => minutes * MINUTE),
];
/** Minimum distance between labels, in pixels. */
const MIN_TICK_DISTANCE = 84;

/** A label for a time on an axis. */
export interface Tick extends Label {
  readonly at: number;
}

/** Returns labels at round times. A label at midnight shows the date. */
export function axisTicks(scale: Scale, minDistance = MIN_TICK_DISTANCE): Tick[] {
  const msPerPixel = (scale.to - scale.from) / Math.max(1, scale.right - scale.left);
  const tickInterval =
    TICK_INTERVALS.find((each) => each / msPerPixel >= minDistance) ?? TICK_INTERVALS.at(-1) ?? MINUTE;
  const firstTick = Math.ceil(scale.from / tickInterval) * tickInterval;
  const formatTick = tickInterval < MINUTE ? formatClock : formatMinutes;
  return Array.from({ length: Math.max(0, Math.floor((scale.to - firstTick) / tickInterval) + 1) }, (_, index) => {
    const at = firstTick + index * tickInterval;
    return { at, x: toX(scale, at), text: at % DAY === 0 ? formatDate(at) : formatTick(at) };
  });
}

/** Returns the longest label that fits into a bar. Empty if none fits. */
export function barLabel({ state, tag, from, to }: Bar, width: number, until?: number): string {
  const shortStateName = shortState(state);
  const durationText = formatDuration((until ?? to) - from);
  const isWaiting = tag === 'retrying' || tag === 'waiting';
  const labelCandidates =
    tag === 'steady' || tag === 'done'
      ? [shortStateName]
      : [`${shortStateName} ${durationText}`, isWaiting ? durationText : shortStateName];
  return labelCandidates.find((each) => each.length * CHARACTER_WIDTH + 2 * LABEL_PADDING <= width) ?? '';
}

/** Approximate width of a character in a label, in pixels. */
const CHARACTER_WIDTH = 6;
const LABEL_PADDING = 6;

/**
 * Returns labels with run numbers, positioned at the starts of the runs. Runs that are too close to each other share a
 * label.
 */
export function runLabels(runs: readonly Run[], scale: Scale): Label[] {
  const labelGroups: { from: number; to: number; runs: number[] }[] = [];
  for (const { at, run } of runs) {
    if (at < scale.from || at > scale.to) continue;
    const x = toX(scale, at);
    const previousGroup = labelGroups.at(-1);
    if (previousGroup && x - previousGroup.to < MIN_RUN_DISTANCE) {
      previousGroup.to = x;
      previousGroup.runs.push(run);
    } else labelGroups.push({ from: x, to: x, runs: [run] });
  }
  return labelGroups.map(({ from, to, runs: runNumbers }, index) => {
    const x = (from + to) / 2;
    const availableWidth = x - (labelGroups[index - 1]?.to ?? Number.NEGATIVE_INFINITY);
    const runNumbersText = runNumbers.length > 3 ? `${runNumbers[0]}–${runNumbers.at(-1)}` : runNumbers.join(', ');
    return {
      x,
      text: runNumbers.length === 1 && availableWidth > MIN_WIDTH_FOR_WORD ? `run ${runNumbersText}` : runNumbersText,
    };
  });
}

const MIN_RUN_DISTANCE = 14;
const MIN_WIDTH_FOR_WORD = 60;
