/** Loads the story of the selected pod for the visible time range, and appends live lines to it. */

import { batch, computed, effect, signal } from '@preact/signals';
import type { Story, StoryLine } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { errorMessage } from '../navigation/actions.ts';
import type { Page } from '../page.ts';
import { DEFAULT_RANGE, type RangeChoice, type TimeRange, visibleRange } from './lanes/storyWindow.ts';
import type { Row } from './rows/storyRows.ts';
import { createStepGrouper, type Step } from './rows/storySteps.ts';
import {
  appendLines,
  completeFrom,
  concernsPod,
  createPodStorySelector,
  emptyStory,
  mergeMissing,
  newLines,
} from './storyGrowth.ts';

/** A loaded story and the pod that it is about. */
export interface LoadedStory {
  /** UID of the pod. Empty for the node's own actors. */
  readonly uid: string;
  readonly story: Story;
  /** Whether newly streamed lines are appended to the story. They are not appended while earlier lines are missing. */
  readonly isOpen: boolean;
  /** Value of the signal `gaps` when the story was requested. */
  readonly gaps: number;
  /**
   * Start of the requested range. The story may start later, because the server omits the earliest lines if there are
   * too many.
   */
  readonly requestedFrom: number;
  /** Whether the node does not record, in which case the story starts when the page was opened. */
  readonly isUnrecorded?: boolean;
}

/** The element under the pointer, for which all panels highlight the corresponding row, arrow and transition. */
export interface Highlight {
  /** Key of the row. */
  readonly row?: string;
  readonly actor: string;
  /** State before the transition. */
  readonly from?: string;
  /** State after the transition. */
  readonly to?: string;
}

/** Creates the signals of the story that the panels share. */
export function createStoryState(page: Page) {
  const loadedStory = signal<LoadedStory | undefined>(undefined);
  const rangeChoice = signal<RangeChoice>(DEFAULT_RANGE);
  const groupSteps = createStepGrouper();
  const selectPodStory = createPodStorySelector();
  const podStory = computed<Story | undefined>(() => {
    const at = page.past.value ? page.now.value : Number.POSITIVE_INFINITY;
    return loadedStory.value && selectPodStory(loadedStory.value.story, at);
  });
  /**
   * Lines that are streamed while a story is loading. Undefined if no story is loading or streamed lines were missed.
   */
  const incomingLines: { now?: IncomingLines | undefined } = {};
  return {
    loaded: loadedStory,
    rangeChoice,
    incoming: incomingLines,
    error: signal<string | undefined>(undefined),
    /** The story of the pod that exists at the displayed time, excluding earlier and later pods with the same UID. */
    life: podStory,
    steps: computed<readonly Step[]>(() => (podStory.value ? groupSteps(podStory.value) : [])),
    range: computed<TimeRange>(() => visibleRange(rangeChoice.value, page.now.value, latestKnownTime(page))),
    highlight: signal<Highlight | undefined>(undefined),
    /** Key of the expanded row. */
    expandedRow: signal<string | undefined>(undefined),
    /** Start of the selected burst. If undefined, the burst at the displayed time is shown. */
    selectedBurst: signal<number | undefined>(undefined),
    retries: signal(0),
    /**
     * Number of gaps so far in the story lines that are streamed to the live page. A story that was requested before
     * the last gap is incomplete, so its missing lines must be requested.
     */
    gaps: signal(0),
  };
}

/** Newly streamed lines that concern one pod or the node itself. */
interface IncomingLines {
  readonly uid: string;
  readonly lines: StoryLine[];
}

/** Returns the latest known time, which advances even while a past time is displayed. */
export const latestKnownTime = (page: Page): number => {
  if (page.mode !== 'live') return page.recordedRange.value?.to ?? page.now.value;
  if (!page.past.value) return page.now.value;
  return page.connection.value.kind === 'lost' ? page.live.value.at : page.nodeTime.value;
};

export type StoryState = ReturnType<typeof createStoryState>;

interface StoryRequest {
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** Whether the range includes the latest known time. */
  readonly isOpen: boolean;
  readonly retries: number;
  readonly gaps: number;
}

/**
 * Minimum interval between requests for missed lines, in milliseconds. A limit is needed because a busy node may omit
 * lines from every frame.
 */
const MIN_GAP_REQUEST_INTERVAL_MS = 1_000;

/**
 * Loads the story for the selected actor and the visible range, and updates it when they change. Returns a function
 * that stops this. Sends one request at a time.
 */
export function followStory(page: Page, storyState: StoryState): () => void {
  let isLoading = false;
  let failedRequest: StoryRequest | undefined;
  let lastRequest: StoryRequest | undefined;
  let lastGapRequestAt = Number.NEGATIVE_INFINITY;
  const requestIfNeeded = () => {
    const request = currentRequest(page, storyState);
    if (
      isLoading ||
      request === undefined ||
      isLoaded(request, storyState.loaded.value) ||
      isSameRequest(request, failedRequest)
    )
      return;
    const hasNewGap =
      lastRequest !== undefined &&
      lastRequest.gaps !== request.gaps &&
      isSameRequest(request, { ...lastRequest, gaps: request.gaps });
    // Postpone the request to a later tick of the clock.
    if (hasNewGap && page.readNow() < lastGapRequestAt + MIN_GAP_REQUEST_INTERVAL_MS) return;
    if (hasNewGap) lastGapRequestAt = page.readNow();
    lastRequest = request;
    isLoading = true;
    void loadStory(page, storyState, request).then((hasSucceeded) => {
      isLoading = false;
      failedRequest = hasSucceeded ? undefined : request;
      requestIfNeeded();
    });
  };
  return effect(requestIfNeeded);
}

const isSameRequest = (a: StoryRequest, b: StoryRequest | undefined): boolean =>
  a.uid === b?.uid && a.retries === b.retries && a.isOpen === b.isOpen && a.gaps === b.gaps;

/** Returns the range to load. Undefined while the user scrubs the timeline or the connection is lost. */
function currentRequest(page: Page, storyState: StoryState): StoryRequest | undefined {
  const selectedPath = page.selectedPath.value;
  const isPaused = page.isDragging.value || page.connection.value.kind === 'lost';
  const [retries, gaps] = [storyState.retries.value, storyState.gaps.value];
  const window = storyState.range.value;
  // Read the clock, so that the request depends on it and a postponed request is retried.
  void page.browserTime.value;
  if (selectedPath === undefined || isPaused) return undefined;
  const recordedRange = page.recordedRange.value;
  const end = page.mode === 'live' ? page.live.value.at : (recordedRange?.to ?? window.to);
  const from = Math.max(window.from, recordedRange?.from ?? Number.NEGATIVE_INFINITY);
  // Compare the end of the range with the earlier of the two times, because the latest lines may be ahead of the clock,
  // which has a resolution of one second.
  const isOpen = page.mode === 'live' && window.to >= Math.min(end, latestKnownTime(page));
  const to = isOpen ? end : Math.min(window.to, end);
  return { uid: podUidOf(selectedPath) ?? '', from, to, isOpen, retries, gaps };
}

function isLoaded(request: StoryRequest, loaded: LoadedStory | undefined): boolean {
  if (loaded?.uid !== request.uid) return false;
  const isGapFree = loaded.gaps === request.gaps;
  if (loaded.isUnrecorded) return isGapFree;
  return (
    coversRange(request, loaded) && ((loaded.isOpen && isGapFree) || (!request.isOpen && loaded.story.to >= request.to))
  );
}

/**
 * Whether the loaded range is wide enough. Omitted lines are not requested again for the same range, but a different
 * range may include them.
 */
const coversRange = ({ from, isOpen }: StoryRequest, { story, requestedFrom, isOpen: wasOpen }: LoadedStory): boolean =>
  completeFrom(story) <= from || (wasOpen === isOpen && requestedFrom <= from);

/** Returns the loaded story if only its end is missing. Undefined if the whole range has to be loaded. */
const resumableStory = (request: StoryRequest, loaded: LoadedStory | undefined): LoadedStory | undefined => {
  if (loaded?.uid !== request.uid || loaded.isUnrecorded || !loaded.isOpen || !request.isOpen) return undefined;
  return coversRange(request, loaded) && loaded.gaps !== request.gaps && loaded.story.to <= request.to
    ? loaded
    : undefined;
};

/**
 * Loads a story. If only its end is missing, requests only that. Otherwise requests more than the visible range, so
 * that scrolling a short distance requires no further request.
 */
async function loadStory(page: Page, storyState: StoryState, request: StoryRequest): Promise<boolean> {
  const { uid, from, to, isOpen, gaps } = request;
  const { loaded, incoming, error } = storyState;
  const marginMs = (to - from) / 2;
  const resumedStory = resumableStory(request, loaded.peek());
  const requestedFrom = resumedStory?.requestedFrom ?? Math.round(from - marginMs);
  if (loaded.peek()?.uid !== uid) loaded.value = undefined;
  incoming.now = { uid, lines: [] };
  try {
    const response = await page.client.story(
      uid,
      resumedStory?.story.to ?? requestedFrom,
      Math.round(isOpen ? to : to + marginMs),
    );
    const newerLines = newLines(incoming.now?.lines ?? [], response);
    const story = resumedStory ? mergeMissing(resumedStory.story, response) : response;
    batch(() => {
      loaded.value = { uid, story: isOpen ? appendLines(story, newerLines, 0) : story, isOpen, requestedFrom, gaps };
      error.value = undefined;
    });
    return true;
  } catch (cause) {
    batch(() => {
      // Show a story that consists only of newly streamed lines, because the node does not record.
      if (page.mode === 'live' && page.recordedRange.peek() === undefined)
        loaded.value = unrecordedStory(page, { uid, requestedFrom, gaps: storyState.gaps.peek() });
      else error.value = errorMessage(cause);
    });
    return false;
  } finally {
    incoming.now = undefined;
  }
}

const unrecordedStory = (page: Page, requested: Pick<LoadedStory, 'uid' | 'requestedFrom' | 'gaps'>): LoadedStory => ({
  ...requested,
  story: emptyStory(page.live.peek(), requested.uid),
  isOpen: true,
  isUnrecorded: true,
});

/** Appends newly streamed lines. Omitted lines are treated as a gap, because it is unknown which pods they concern. */
export function appendLiveLines(storyState: StoryState, lines: readonly StoryLine[], unsaid: number): void {
  const { loaded, incoming } = storyState;
  const currentStory = loaded.peek();
  if (unsaid > 0 && !currentStory?.isUnrecorded) {
    recordGap(storyState);
    return;
  }
  const { now: currentLines } = incoming;
  if (currentLines) currentLines.lines.push(...lines.filter((line) => concernsPod(line, currentLines.uid)));
  if (!currentStory?.isOpen || currentStory.gaps !== storyState.gaps.peek()) return;
  const podLines = lines.filter((line) => concernsPod(line, currentStory.uid));
  if (podLines.length > 0 || unsaid > 0)
    loaded.value = { ...currentStory, story: appendLines(currentStory.story, podLines, unsaid) };
}

/** Records a gap in the streamed lines, so that the lines after the loaded story are requested. */
export function recordGap({ incoming, gaps }: StoryState): void {
  incoming.now = undefined;
  gaps.value += 1;
}

/** Returns the parts of all panels to highlight for a row. */
export const highlightOf = ({ key, actor, move }: Row): Highlight => ({
  row: key,
  actor,
  ...(move?.from === undefined ? {} : { from: move.from }),
  ...(move === undefined ? {} : { to: move.state }),
});
