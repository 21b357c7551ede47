/** Changes the page's location, i.e. the selected actor, the time and the view. */
import { batch } from '@preact/signals';
import type { Page } from '../page.ts';
import { worldOf } from '../server/world.ts';
import { navigate } from './navigate.ts';
import type { PageLocation } from './pageLocation.ts';
import { locationSteps } from './selection.ts';

export { navigate } from './navigate.ts';

export function select(page: Page, path: string): void {
  if (path === page.selectedPath.peek() && page.location.peek().steps.length > 0) return;
  batch(() => {
    page.selectedPath.value = path;
    navigate(page, locationSteps(page.world.peek(), path), 'push');
  });
}

/** Sets the filter of the tree. Empty text removes the filter. */
export const filterBy = (page: Page, text: string): void =>
  navigate(page, { query: text.trim() === '' ? undefined : text }, 'replace');

/**
 * Navigates to a time in the past. The current view remains until the snapshot has been loaded. If the user navigates
 * quickly through a series of times, intermediate ones may be skipped. `isMoving` is true while the user scrubs the
 * timeline.
 */
export function goToTime(page: Page, at: number, { isMoving = false } = {}): void {
  batch(() => {
    page.isDragging.value = isMoving;
    navigate(page, { at }, 'replace');
  });
  void loadSnapshot(page);
}

/** Loads and shows the snapshot for the current location. Sends one request at a time. */
async function loadSnapshot(page: Page): Promise<void> {
  const { pendingSnapshot } = page;
  const at = page.location.peek().at;
  if (at === undefined || pendingSnapshot.peek()?.kind === 'asked') return;
  pendingSnapshot.value = { kind: 'asked', at, since: page.readNow() };
  try {
    const snapshot = await page.client.snapshot(at);
    batch(() => {
      pendingSnapshot.value = undefined;
      if (page.location.peek().at !== undefined) page.past.value = worldOf(snapshot);
    });
  } catch (error) {
    // Do not report the failure if the user has moved to a different time.
    const isStillCurrent = page.location.peek().at === at;
    pendingSnapshot.value = isStillCurrent ? { kind: 'failed', at, message: errorMessage(error) } : undefined;
  }
  const currentAt = page.location.peek().at;
  if (currentAt !== undefined && currentAt !== at) await loadSnapshot(page);
}

export function goLive(page: Page): void {
  if (page.mode !== 'live') return;
  batch(() => {
    page.past.value = undefined;
    page.frozen.value = undefined;
    page.isDragging.value = false;
    if (page.pendingSnapshot.peek()?.kind === 'failed') page.pendingSnapshot.value = undefined;
    navigate(page, { at: undefined }, 'replace');
  });
}

/** Freezes or unfreezes the live view. */
export function toggleFreeze(page: Page): void {
  if (page.past.peek()) return;
  batch(() => {
    page.eventsSinceFreeze.value = 0;
    page.frozen.value = page.frozen.peek() ? undefined : page.live.peek();
  });
}

/** Applies the location to which the browser's back or forward button leads. */
export function applyLocation(page: Page, location: PageLocation): void {
  batch(() => {
    page.location.value = location;
    page.isDragging.value = false;
    if (location.at === undefined && page.mode === 'live') page.past.value = undefined;
    if (location.at === undefined && page.pendingSnapshot.peek()?.kind === 'failed')
      page.pendingSnapshot.value = undefined;
  });
  void loadSnapshot(page);
}

export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
