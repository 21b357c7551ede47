/** The story of a page begins: what its panels share, kept up with what is looked at. */
import { effect } from '@preact/signals';
import { createPlayer } from './moments.ts';
import type { Page } from './page.ts';
import { createStoryView } from './storyView.ts';
import { createTelling, followStory } from './telling.ts';

/** So often the rail is asked for anew while the node goes on. */
const RAIL_MS = 10_000;

interface Waits {
  readonly later: (after: () => void, ms: number) => unknown;
}

/** What the panels of story and time are given; it is kept up to date from now on. */
export function startStory(page: Page, waits: Waits) {
  const telling = createTelling(page);
  followStory(page, telling);
  resetOnMove(page, telling);
  void keepRail(page, waits);
  return { page, telling, view: createStoryView(page, telling), player: createPlayer(page, waits) };
}

/** Of another actor, and of another moment, the burst of the moment is shown. */
function resetOnMove(page: Page, { burst, opened }: ReturnType<typeof createTelling>): void {
  let actor = page.selected.peek();
  effect(() => {
    const selected = page.selected.value;
    // It moves with the moment.
    void page.past.value;
    burst.value = undefined;
    if (selected !== actor) opened.value = undefined;
    actor = selected;
  });
}

/** Asks for the rail, and again while it grows; what cannot be asked is tried again. */
async function keepRail(page: Page, { later }: Waits): Promise<void> {
  if (page.recorded.peek() && page.connection.peek().kind !== 'lost') {
    try {
      page.rail.value = await page.asking.rail();
    } catch {
      // What was known of it stays.
    }
  }
  if (page.mode === 'live' || page.rail.peek() === undefined) later(() => void keepRail(page, { later }), RAIL_MS);
}
