/**
 * Navigates through time in steps, each of which is an input or a change in the selected actor's state, and plays the
 * recording.
 */

import { signal } from '@preact/signals';
import type { StoryLine } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { goLive, goToTime } from '../navigation/actions.ts';
import type { Page } from '../page.ts';
import { completeFrom } from '../story/storyGrowth.ts';
import type { LoadedStory } from '../story/storyState.ts';
import { formatDate, isValidTime, parseUtcTime } from './time.ts';

/** The size of a step, which is one input or one change in the selected actor's state. */
export type StepUnit = 'event' | 'change';

/**
 * Returns the time of the next or previous input or, for the unit `change`, of the actor's next or previous transition.
 */
export function nearestTime(
  lines: readonly StoryLine[],
  { at, by, actor, isForward }: { at: number; by: StepUnit; actor: string; isForward: boolean },
): number | undefined {
  const matchesSearch = (line: StoryLine) =>
    by === 'event' ? line.kind === 'entered' : line.kind === 'state' && line.actor === actor;
  const line = isForward
    ? lines.find((each) => each.at > at && matchesSearch(each))
    : lines.findLast((each) => each.at < at && matchesSearch(each));
  return line?.at;
}

interface StoryAccess {
  readonly loaded: {
    peek(): Pick<LoadedStory, 'uid' | 'story' | 'isOpen' | 'gaps'> | undefined;
  };
  readonly gaps: { peek(): number };
}

/** Goes to the next or previous step. A step forward from the last one leads to the live view. */
export async function stepTo(page: Page, story: StoryAccess, by: StepUnit, isForward: boolean): Promise<void> {
  const actor = page.selectedPath.peek() ?? '';
  const uid = podUidOf(actor) ?? '';
  // Start from the requested time instead of the displayed one, which lags behind if keys are pressed quickly.
  const at = page.location.peek().at ?? latestTime(page);
  const search = { at, by, actor, isForward };
  const loadedLines = completeLines(story, uid, at);
  const nearbyTime = loadedLines && nearestTime(loadedLines, search);
  const targetTime = nearbyTime ?? (await searchRecording(page, uid, search));
  if (targetTime !== undefined) goToTime(page, targetTime);
  else if (isForward) goLive(page);
}

/** Returns the latest known time. The latest lines may be ahead of the clock, which has a resolution of one second. */
function latestTime({ now, frozen, live }: Page): number {
  return frozen.peek() ? now.peek() : Math.max(now.peek(), live.peek().at);
}

/** Returns the loaded story lines, or undefined if lines around the given time may be missing. */
function completeLines({ loaded, gaps }: StoryAccess, uid: string, at: number): readonly StoryLine[] | undefined {
  const loadedStory = loaded.peek();
  if (loadedStory?.uid !== uid) return undefined;
  const isStillGrowing = loadedStory.isOpen && loadedStory.gaps === gaps.peek();
  const isComplete = at >= completeFrom(loadedStory.story) && (isStillGrowing || at <= loadedStory.story.to);
  return isComplete ? loadedStory.story.lines : undefined;
}

/** Initial duration of the searched range, in milliseconds. The range grows until the search finds a step. */
const INITIAL_SEARCH_MS = 60_000;
const SEARCH_GROWTH = 4;

/** Searches the recording on the server for a step beyond the loaded lines. */
async function searchRecording(
  page: Page,
  uid: string,
  search: Parameters<typeof nearestTime>[1],
): Promise<number | undefined> {
  const recordedRange = page.recordedRange.peek();
  if (!recordedRange || (search.isForward && !page.past.peek())) return undefined;
  const end = search.isForward ? recordedRange.to : recordedRange.from;
  let [edge, span] = [search.at, INITIAL_SEARCH_MS];
  try {
    while (search.isForward ? edge < end : edge > end) {
      const [from, to] = search.isForward ? [edge, Math.min(end, edge + span)] : [Math.max(end, edge - span), edge];
      const { lines, unsaid = 0 } = await page.client.story(uid, from, to);
      // Repeat the search in a smaller range, because the server has omitted the earliest lines and the nearest step
      // may be among them.
      const isTruncated = search.isForward && unsaid > 0 && span > 1;
      const match = isTruncated ? undefined : nearestTime(lines, search);
      if (match !== undefined) return match;
      if (!isTruncated) edge = search.isForward ? to : from;
      span = isTruncated ? Math.ceil(span / SEARCH_GROWTH) : span * SEARCH_GROWTH;
    }
  } catch {
    // Treat a failure as no result, because the panels report failed requests themselves.
  }
  return undefined;
}

/** Playback speeds, as factors. */
export const SPEEDS = [1, 10, 60] as const;

/** Interval between updates during playback, in milliseconds. */
const UPDATE_INTERVAL_MS = 200;

interface Timers {
  readonly scheduleTimeout: (after: () => void, ms: number) => unknown;
}

/** Creates the player, which plays the recording starting at the displayed time. */
export function createPlayer(page: Page, { scheduleTimeout }: Timers) {
  /** The speed of the playback in progress. Undefined while paused. */
  const speed = signal<(typeof SPEEDS)[number] | undefined>(undefined);
  let playbackId = 0;
  /** The browser's time and the recorded time at the start of the playback. */
  let playbackStart = { wall: 0, at: 0 };
  const end = () => (page.mode === 'live' ? page.live.peek().at : (page.recordedRange.peek()?.to ?? 0));
  const updatePlayback = (id: number) => {
    const speedFactor = speed.peek();
    if (id !== playbackId || speedFactor === undefined) return;
    const at = playbackStart.at + (page.readNow() - playbackStart.wall) * speedFactor;
    if (at >= end()) {
      stop();
      if (page.mode === 'live') goLive(page);
      else goToTime(page, end());
      return;
    }
    goToTime(page, Math.round(at), { isMoving: true });
    scheduleTimeout(() => updatePlayback(id), UPDATE_INTERVAL_MS);
  };
  const stop = () => {
    if (speed.peek() === undefined) return;
    playbackId += 1;
    speed.value = undefined;
    page.isDragging.value = false;
  };
  return {
    speed,
    stop,
    play(times: (typeof SPEEDS)[number]): void {
      playbackId += 1;
      speed.value = times;
      playbackStart = { wall: page.readNow(), at: page.now.peek() };
      updatePlayback(playbackId);
    },
  };
}

export type Player = ReturnType<typeof createPlayer>;

/**
 * Parses a time entered by the user, e.g. `07:41:31`, `07:41`, `5m ago` or an RFC 3339 timestamp. UTC is the default. A
 * time of day refers to its last occurrence before `now`. Undefined if the text is not a time.
 */
export function parseTime(text: string, now: number): number | undefined {
  const trimmedText = text.trim();
  const ago = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?: ago)?$/.exec(trimmedText);
  if (ago && trimmedText !== '') {
    const [hours = 0, minutes = 0, seconds = 0] = ago.slice(1).map((part) => Number(part ?? 0));
    const at = now - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
    return isValidTime(at) ? at : undefined;
  }
  if (/^\d{1,2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(trimmedText)) return timeOfDay(trimmedText, now);
  return parseUtcTime(trimmedText);
}

const DAY_MS = 86_400_000;

function timeOfDay(text: string, now: number): number | undefined {
  const day = formatDate(now);
  const [hours = '', ...others] = text.split(':');
  const at = Date.parse(`${day}T${[hours.padStart(2, '0'), ...others].join(':')}Z`);
  if (Number.isNaN(at)) return undefined;
  return at > now ? at - DAY_MS : at;
}
