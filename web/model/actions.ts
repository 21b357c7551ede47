/** What changes where one is on the page: another actor, another moment, another view. */
import { batch } from '@preact/signals';
import { go } from './go.ts';
import type { Page } from './page.ts';
import type { Place } from './place.ts';
import { stepsOf } from './selection.ts';
import { worldOf } from './world.ts';

export { go } from './go.ts';

/** Selects an actor by its path. */
export function select(page: Page, path: string): void {
  if (path === page.selected.peek() && page.place.peek().steps.length > 0) return;
  batch(() => {
    page.selected.value = path;
    go(page, stepsOf(page.world.peek(), path), 'push');
  });
}

/** Filters the tree; an empty text shows all. */
export const filterBy = (page: Page, text: string): void =>
  go(page, { query: text.trim() === '' ? undefined : text }, 'replace');

/**
 * Goes to a moment of the past. The old picture stays until the new one has come; of many moments asked for in a row only
 * the last is shown. `isMoving`: the hand is still on the rail.
 */
export function goTo(page: Page, at: number, { isMoving = false } = {}): void {
  batch(() => {
    page.isMoving.value = isMoving;
    go(page, { at }, 'replace');
  });
  void show(page);
}

/** Shows the moment of the place, one question at a time. */
async function show(page: Page): Promise<void> {
  const { moment } = page;
  const at = page.place.peek().at;
  if (at === undefined || moment.peek()?.kind === 'asked') return;
  moment.value = { kind: 'asked', at, since: page.readNow() };
  try {
    const snapshot = await page.asking.snapshot(at);
    batch(() => {
      moment.value = undefined;
      if (page.place.peek().at !== undefined) page.past.value = worldOf(snapshot);
    });
  } catch (error) {
    // Who has gone on by now is not told of it.
    const isWanted = page.place.peek().at === at;
    moment.value = isWanted ? { kind: 'failed', at, message: messageOf(error) } : undefined;
  }
  const next = page.place.peek().at;
  if (next !== undefined && next !== at) await show(page);
}

/** Back to the node as it goes on; nothing is replayed. */
export function goLive(page: Page): void {
  if (page.mode !== 'live') return;
  batch(() => {
    page.past.value = undefined;
    page.held.value = undefined;
    page.isMoving.value = false;
    if (page.moment.peek()?.kind === 'failed') page.moment.value = undefined;
    go(page, { at: undefined }, 'replace');
  });
}

/** Holds the picture while the node goes on, or lets it go. */
export function toggleHold(page: Page): void {
  if (page.past.peek()) return;
  batch(() => {
    page.sinceHeld.value = 0;
    page.held.value = page.held.peek() ? undefined : page.live.peek();
  });
}

/** Takes the place that back and forward lead to. */
export function arriveAt(page: Page, place: Place): void {
  batch(() => {
    page.place.value = place;
    page.isMoving.value = false;
    if (place.at === undefined && page.mode === 'live') page.past.value = undefined;
    if (place.at === undefined && page.moment.peek()?.kind === 'failed') page.moment.value = undefined;
  });
  void show(page);
}

/** What went wrong, in words. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
