/** Actions that change the location on the page, which is the selected actor, time and view. */
import { batch } from '@preact/signals';
import { go } from './go.ts';
import type { Page } from './page.ts';
import type { Place } from './place.ts';
import { stepsOf } from './selection.ts';
import { worldOf } from './world.ts';

export { go } from './go.ts';

export function select(page: Page, path: string): void {
  if (path === page.selected.peek() && page.place.peek().steps.length > 0) return;
  batch(() => {
    page.selected.value = path;
    go(page, stepsOf(page.world.peek(), path), 'push');
  });
}

/** Filters the tree. An empty text removes the filter. */
export const filterBy = (page: Page, text: string): void =>
  go(page, { query: text.trim() === '' ? undefined : text }, 'replace');

/**
 * Shows a time in the past. The current view stays until the snapshot has arrived. If several times are requested in
 * quick succession, only the last is shown. `isMoving` is true while the user drags the rail.
 */
export function goTo(page: Page, at: number, { isMoving = false } = {}): void {
  batch(() => {
    page.isMoving.value = isMoving;
    go(page, { at }, 'replace');
  });
  void show(page);
}

/** Loads and shows the snapshot for the current location, one request at a time. */
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
    // Do not report the failure if the user has moved to a different time.
    const isWanted = page.place.peek().at === at;
    moment.value = isWanted ? { kind: 'failed', at, message: messageOf(error) } : undefined;
  }
  const next = page.place.peek().at;
  if (next !== undefined && next !== at) await show(page);
}

/** Returns to the live view. */
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

/** Freezes or unfreezes the live view. */
export function toggleHold(page: Page): void {
  if (page.past.peek()) return;
  batch(() => {
    page.sinceHeld.value = 0;
    page.held.value = page.held.peek() ? undefined : page.live.peek();
  });
}

/** Applies the location that the browser's back or forward button leads to. */
export function arriveAt(page: Page, place: Place): void {
  batch(() => {
    page.place.value = place;
    page.isMoving.value = false;
    if (place.at === undefined && page.mode === 'live') page.past.value = undefined;
    if (place.at === undefined && page.moment.peek()?.kind === 'failed') page.moment.value = undefined;
  });
  void show(page);
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
