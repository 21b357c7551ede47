/** Creates the state of the story panels and updates it. */
import { effect } from '@preact/signals';
import type { Page } from '../page.ts';
import { createPlayer } from '../rail/timeNavigation.ts';
import { createStoryState, followStory } from './storyState.ts';
import { createStoryView } from './storyView.ts';

/**
 * Interval in milliseconds between requests for the data of the rail (the timeline of the recording) if the node is
 * live.
 */
const RAIL_INTERVAL_MS = 10_000;

interface Timers {
  readonly scheduleTimeout: (after: () => void, ms: number) => unknown;
}

/** Creates the state of the story and time panels, and starts updating it. */
export function startStory(page: Page, timers: Timers) {
  const storyState = createStoryState(page);
  followStory(page, storyState);
  resetOnNavigation(page, storyState);
  void pollRail(page, timers);
  return { page, storyState, view: createStoryView(page, storyState), player: createPlayer(page, timers) };
}

/**
 * Resets the selected burst when the selected actor or the displayed time changes, and the expanded row when the actor
 * changes.
 */
function resetOnNavigation(page: Page, { selectedBurst, expandedRow }: ReturnType<typeof createStoryState>): void {
  let actor = page.selectedPath.peek();
  effect(() => {
    const selectedPath = page.selectedPath.value;
    // Read the signal, so that the effect depends on the displayed time.
    void page.past.value;
    selectedBurst.value = undefined;
    if (selectedPath !== actor) expandedRow.value = undefined;
    actor = selectedPath;
  });
}

/** Loads the rail, and reloads it regularly while it grows or if the request failed. */
async function pollRail(page: Page, { scheduleTimeout }: Timers): Promise<void> {
  if (page.recordedRange.peek() && page.connection.peek().kind !== 'lost') {
    try {
      page.rail.value = await page.client.rail();
    } catch {
      // Continue to show the previous rail if the request fails.
    }
  }
  if (page.mode === 'live' || page.rail.peek() === undefined)
    scheduleTimeout(() => void pollRail(page, { scheduleTimeout }), RAIL_INTERVAL_MS);
}
