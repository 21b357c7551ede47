/**
 * Loads the explanation of the selected actor's state (the answer) and the actor's history. Reloads both when the actor
 * has changed.
 */

import { batch } from '@preact/signals';
import type { ActorDetail, ActorHistory, ShownActor } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { errorMessage } from '../navigation/actions.ts';
import type { Page } from '../page.ts';
import { isSameList, requestOnChange } from '../server/requestOnChange.ts';
import type { World } from '../server/world.ts';

/**
 * Interval between requests while the panel is open, in milliseconds. Requests are repeated because logs and events may
 * change while the actor does not.
 */
const REFRESH_MS = 5_000;

/**
 * Returns the actors of the pod with the given UID, or of the node if `uid` is undefined. An unchanged actor is the
 * same object as before.
 */
export function actorsOfPod(world: World, uid: string | undefined): readonly ShownActor[] {
  return [...world.actors.values()].filter((actor) => podUidOf(actor.path) === uid);
}

/** Identifies a request, so that identical requests are not repeated. */
interface DetailRequest {
  readonly path: string;
  readonly at: number | undefined;
  readonly dependencies: readonly unknown[];
}

interface FollowOptions {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  /** Whether the panel with logs and events is visible. */
  readonly areDetailsVisible: () => boolean;
}

/**
 * Loads the details of the selected actor, and reloads them when necessary. Returns a function that stops this. The
 * answer and the history are requested separately, so that the answer does not have to wait for the history.
 */
export function followDetail(page: Page, { setTimeout, areDetailsVisible }: FollowOptions): () => void {
  const followWith = (send: (request: DetailRequest) => Promise<void>) =>
    requestOnChange<DetailRequest>({
      setTimeout,
      currentRequest: () => currentRequest(page, areDetailsVisible()),
      isSameRequest: (a, b) => a.path === b.path && a.at === b.at && isSameList(a.dependencies, b.dependencies),
      isUrgent: (a, b) => a.path !== b.path,
      send,
    });
  const unsubscribes = [
    followWith((request) => loadDetail(page, request)),
    followWith((request) => loadHistory(page, request)),
  ];
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
}

/**
 * Returns the request to send. Undefined while the user scrubs the timeline, while the connection is lost, or if the
 * actor does not exist.
 */
function currentRequest(page: Page, areDetailsVisible: boolean): DetailRequest | undefined {
  const path = page.selectedPath.value;
  const world = page.world.value;
  const retryCount = page.detailRetries.value;
  const isPaused = page.isDragging.value || page.connection.value.kind === 'lost';
  if (path === undefined || isPaused || !world.actors.has(path)) return undefined;
  const at = page.past.value || page.frozen.value ? world.at : undefined;
  const refreshCount = areDetailsVisible && at === undefined ? Math.floor(page.browserTime.value / REFRESH_MS) : 0;
  return { path, at, dependencies: [retryCount, refreshCount, ...actorsOfPod(world, podUidOf(path))] };
}

async function loadDetail(page: Page, { path, at }: DetailRequest): Promise<void> {
  try {
    const detail = await page.client.detail(path, at);
    if (page.selectedPath.peek() !== path) return;
    batch(() => {
      page.detail.value = detail;
      page.detailError.value = undefined;
    });
  } catch (error) {
    page.detailError.value = { path, message: errorMessage(error) };
  }
}

async function loadHistory(page: Page, { path, at }: DetailRequest): Promise<void> {
  try {
    const history = await page.client.actorHistory(path, at);
    if (page.selectedPath.peek() !== path) return;
    batch(() => {
      page.actorHistory.value = history;
      page.historyError.value = undefined;
    });
  } catch (error) {
    page.historyError.value = { path, message: errorMessage(error) };
  }
}

/** The part of an actor's details that has been loaded so far. */
export interface LoadedDetail extends ActorDetail, Partial<Pick<ActorHistory, 'tried' | 'taken'>> {}

/**
 * Returns the details of an actor at the displayed time. Undefined if they are older than the actor's last change or
 * later than the displayed time.
 */
export function detailOf(page: Page, { path, since }: ShownActor): LoadedDetail | undefined {
  const detail = earlierDetailOf(page, path);
  return detail && detail.at >= since ? detail : undefined;
}

/**
 * Returns the details even if they are older than the actor's last change, because outdated details are better than
 * none until the next response.
 */
export function earlierDetailOf(page: Page, path: string): LoadedDetail | undefined {
  const { value: past } = page.past;
  const isCurrent = (each: { readonly path: string; readonly at: number } | undefined) =>
    each?.path === path && !(past && each.at > past.at);
  const { value: detail } = page.detail;
  const { value: history } = page.actorHistory;
  if (!detail || !isCurrent(detail)) return undefined;
  if (!history || !isCurrent(history)) return detail;
  const { tried, taken, events = detail.events } = history;
  return { ...detail, tried, taken, ...(events === undefined ? {} : { events }) };
}
