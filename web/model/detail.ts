/** Loads the answer and the history of the selected actor. Both are reloaded when the actor has changed. */

import { batch } from '@preact/signals';
import type { ActorHistory, Detail, ShownActor } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import { isSameList, keepAsking } from './keepAsking.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** Interval between requests while the panel is open. Logs and events may change while the actor does not. */
const AGAIN_MS = 5_000;

/** Returns the actors of a pod, or the node's own if `uid` is undefined. Unchanged actors are identical objects. */
export function familyOf(world: World, uid: string | undefined): readonly ShownActor[] {
  return [...world.actors.values()].filter((actor) => podUidOf(actor.path) === uid);
}

/** Identifies a request, so that the same one is not sent twice. */
interface Asked {
  readonly path: string;
  readonly at: number | undefined;
  readonly of: readonly unknown[];
}

interface Waits {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  /** Whether the panel with logs and events is visible. */
  readonly isSeen: () => boolean;
}

/**
 * Loads the details of the selected actor until the returned function is called. The answer does not wait for the
 * history.
 */
export function followDetail(page: Page, { setTimeout, isSeen }: Waits): () => void {
  const keep = (ask: (question: Asked) => Promise<void>) =>
    keepAsking<Asked>({
      setTimeout,
      question: () => questionOf(page, isSeen()),
      isSame: (one, other) => one.path === other.path && one.at === other.at && isSameList(one.of, other.of),
      isUrgent: (one, other) => one.path !== other.path,
      ask,
    });
  const leaves = [keep((question) => askDetail(page, question)), keep((question) => askHistory(page, question))];
  return () => {
    for (const leave of leaves) leave();
  };
}

/**
 * Returns the request to send. Undefined while the user drags the rail, the connection is lost or the actor is missing.
 */
function questionOf(page: Page, isSeen: boolean): Asked | undefined {
  const path = page.selected.value;
  const world = page.world.value;
  const tries = page.detailTries.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  if (path === undefined || isStill || !world.actors.has(path)) return undefined;
  const at = page.past.value || page.held.value ? world.at : undefined;
  const again = isSeen && at === undefined ? Math.floor(page.wall.value / AGAIN_MS) : 0;
  return { path, at, of: [tries, again, ...familyOf(world, podUidOf(path))] };
}

async function askDetail(page: Page, { path, at }: Asked): Promise<void> {
  try {
    const detail = await page.asking.detail(path, at);
    if (page.selected.peek() !== path) return;
    batch(() => {
      page.detail.value = detail;
      page.detailTrouble.value = undefined;
    });
  } catch (error) {
    page.detailTrouble.value = { path, message: messageOf(error) };
  }
}

async function askHistory(page: Page, { path, at }: Asked): Promise<void> {
  try {
    const history = await page.asking.actorHistory(path, at);
    if (page.selected.peek() !== path) return;
    batch(() => {
      page.actorHistory.value = history;
      page.historyTrouble.value = undefined;
    });
  } catch (error) {
    page.historyTrouble.value = { path, message: messageOf(error) };
  }
}

/** The details of an actor that the page has received so far. */
export interface KnownDetail extends Detail, Partial<Pick<ActorHistory, 'tried' | 'taken'>> {}

/**
 * Returns the details of an actor at the displayed time. Undefined if the actor has changed since, or if the details
 * are later than that time.
 */
export function detailOf(page: Page, { path, since }: ShownActor): KnownDetail | undefined {
  const detail = earlierDetailOf(page, path);
  return detail && detail.at >= since ? detail : undefined;
}

/**
 * Returns the details even if the actor has changed since, because outdated details are better than none until the next
 * response.
 */
export function earlierDetailOf(page: Page, path: string): KnownDetail | undefined {
  const { value: past } = page.past;
  const isShown = (each: { readonly path: string; readonly at: number } | undefined) =>
    each?.path === path && !(past && each.at > past.at);
  const { value: detail } = page.detail;
  const { value: history } = page.actorHistory;
  if (!detail || !isShown(detail)) return undefined;
  if (!history || !isShown(history)) return detail;
  const { tried, taken, events = detail.events } = history;
  return { ...detail, tried, taken, ...(events === undefined ? {} : { events }) };
}
