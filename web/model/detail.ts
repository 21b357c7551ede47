/** The details of the selected actor: its answer first, then its history. Both are requested again when the actor has changed. */

import { batch } from '@preact/signals';
import type { ActorHistory, Detail, ShownActor } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import { isSameList, keepAsking } from './keepAsking.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** Logs and events go on while no actor moves: so often they are asked for while they are seen. */
const AGAIN_MS = 5_000;

/** The actors of a pod, or the node's own: while they are the same objects, nothing has changed. */
export function familyOf(world: World, uid: string | undefined): readonly ShownActor[] {
  return [...world.actors.values()].filter((actor) => podUidOf(actor.path) === uid);
}

/** Which question was asked last. */
interface Asked {
  readonly path: string;
  readonly at: number | undefined;
  readonly of: readonly unknown[];
}

interface Waits {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  /** Whether the panel with logs and events is looked at. */
  readonly isSeen: () => boolean;
}

/** Keeps the page's details to its selection until the function that it returns is called. The answer waits for no history. */
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

/** What is to be asked now; nothing while the hand is on the rail, the connection is lost, or the actor is gone. */
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

/** What is known of an actor as it is shown: not of one that has moved on since, and not of a later moment. */
export function detailOf(page: Page, { path, since }: ShownActor): KnownDetail | undefined {
  const detail = earlierDetailOf(page, path);
  return detail && detail.at >= since ? detail : undefined;
}

/** The same also of an actor that has moved on since: until the next answer comes that tells more than nothing. */
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
