/** Creates the state of the story panels and keeps it up to date. */
import { effect } from '@preact/signals';
import { createPlayer } from './moments.ts';
import type { Page } from './page.ts';
import { createStoryView } from './storyView.ts';
import { createTelling, followStory } from './telling.ts';

/** Interval between requests for the rail of a live node. */
const RAIL_MS = 10_000;

interface Waits {
  readonly later: (after: () => void, ms: number) => unknown;
}

/** Creates the state of the story and time panels. It is updated from then on. */
export function startStory(page: Page, waits: Waits) {
  const telling = createTelling(page);
  followStory(page, telling);
  resetOnMove(page, telling);
  void keepRail(page, waits);
  return { page, telling, view: createStoryView(page, telling), player: createPlayer(page, waits) };
}

/** Resets the burst when the selected actor or the displayed time changes. */
function resetOnMove(page: Page, { burst, opened }: ReturnType<typeof createTelling>): void {
  let actor = page.selected.peek();
  effect(() => {
    const selected = page.selected.value;
    // Depend on the displayed time.
    void page.past.value;
    burst.value = undefined;
    if (selected !== actor) opened.value = undefined;
    actor = selected;
  });
}

/** Loads the rail, and reloads it while it grows or if the request failed. */
async function keepRail(page: Page, { later }: Waits): Promise<void> {
  if (page.recorded.peek() && page.connection.peek().kind !== 'lost') {
    try {
      page.rail.value = await page.asking.rail();
    } catch {
      // The previous rail stays visible.
    }
  }
  if (page.mode === 'live' || page.rail.peek() === undefined) later(() => void keepRail(page, { later }), RAIL_MS);
}
