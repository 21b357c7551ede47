/** What is shown of one actor only while it is selected: asked for anew when something of it has changed. */

import { batch } from '@preact/signals';
import type { Detail, ShownActor } from '../../inspect/protocol.ts';
import { podUidIn } from '../../pod/show/actorPath.ts';
import { messageOf } from './actions.ts';
import { isSameList, keepAsking } from './keepAsking.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** Logs and events go on while no actor moves: so often they are asked for while they are seen. */
const AGAIN_MS = 5_000;

/** The actors of a pod, or the node's own: while they are the same objects, nothing has changed. */
export function familyOf(world: World, uid: string | undefined): readonly ShownActor[] {
  return [...world.actors.values()].filter((actor) => podUidIn(actor.path) === uid);
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

/** Keeps the page's detail to its selection until the function that it returns is called. */
export const followDetail = (page: Page, { setTimeout, isSeen }: Waits): (() => void) =>
  keepAsking<Asked>({
    setTimeout,
    question: () => questionOf(page, isSeen()),
    isSame: (one, other) => one.path === other.path && one.at === other.at && isSameList(one.of, other.of),
    ask: (question) => ask(page, question),
  });

/** What is to be asked now; nothing while the hand is on the rail, the connection is lost, or the actor is gone. */
function questionOf(page: Page, isSeen: boolean): Asked | undefined {
  const path = page.selected.value;
  const world = page.world.value;
  const tries = page.detailTries.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  if (path === undefined || isStill || !world.actors.has(path)) return undefined;
  const at = page.past.value || page.held.value ? world.at : undefined;
  const again = isSeen && at === undefined ? Math.floor(page.wall.value / AGAIN_MS) : 0;
  return { path, at, of: [tries, again, ...familyOf(world, podUidIn(path))] };
}

async function ask(page: Page, { path, at }: Asked): Promise<void> {
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

/** What is known of an actor as it is shown: not of one that has moved on since, and not of a later moment. */
export function detailOf(page: Page, { path, since }: ShownActor): Detail | undefined {
  const detail = earlierDetailOf(page, path);
  return detail && detail.at >= since ? detail : undefined;
}

/** The same also of an actor that has moved on since: until the next answer comes that tells more than nothing. */
export function earlierDetailOf(page: Page, path: string): Detail | undefined {
  const { value: detail } = page.detail;
  const { value: past } = page.past;
  return detail?.path !== path || (past && detail.at > past.at) ? undefined : detail;
}
