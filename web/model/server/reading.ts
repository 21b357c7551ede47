/**
 * Creates the state of the panels that describe the selected actor, i.e. the tabs, the pod's object, and announcements
 * for screen readers.
 */

import { signal } from '@preact/signals';
import type { ShownObject } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { actorsOfPod } from '../details/detail.ts';
import { createLogTab } from '../log/logTab.ts';
import { errorMessage } from '../navigation/actions.ts';
import type { Page } from '../page.ts';
import { isSameList, requestOnChange } from './requestOnChange.ts';

/** The tabs of a narrow page, which shows only one panel at a time. */
export const NARROW_TABS = ['why', 'story', 'chart', 'actors'] as const;

/** The tabs of the Why panel, which explains the selected actor's state. */
export const WHY_TABS = ['why', 'log', 'events', 'manifest'] as const;

/** Creates the state that only the panels about the selected actor use. */
export function createReadingState() {
  return {
    /** The visible panel of a narrow page. */
    narrowTab: signal<(typeof NARROW_TABS)[number]>('why'),
    whyTab: signal<(typeof WHY_TABS)[number]>('why'),
    /** Whether the drawer with the Why panel is open. Only pages too narrow for a separate column have a drawer. */
    isDrawerOpen: signal(false),
    areKeysShown: signal(false),
    logTab: createLogTab(),
    object: signal<LoadedObject | undefined>(undefined),
    /** Number of times that the user has clicked Retry. */
    objectRetries: signal(0),
  };
}

export type ReadingState = ReturnType<typeof createReadingState>;

/** A pod's manifest and status, or the failure to load them. */
interface LoadedObject {
  readonly uid: string;
  /** The object as last loaded. Undefined until it has been loaded for the first time. */
  readonly content?: ShownObject;
  /** Error message of the last failed request. */
  readonly error?: string;
}

/** Whether the manifest, the conditions or the status is visible. */
const isObjectVisible = ({ whyTab }: ReadingState, page: Page): boolean =>
  whyTab.value === 'manifest' || page.location.value.isPodPage;

/** Whether the log and the events of the selected actor are visible. */
export const areDetailsVisible = ({ whyTab }: ReadingState, page: Page): boolean =>
  whyTab.value !== 'manifest' || page.location.value.isPodPage;

interface ObjectRequest {
  readonly uid: string;
  readonly at: number | undefined;
  /** Values on which the object depends. The object is requested again only if one of them changes. */
  readonly dependencies: readonly unknown[];
}

/**
 * Loads the manifest and status of the selected actor's pod while either is visible. Returns a function that stops
 * this.
 */
export const followObject = (
  page: Page,
  reading: ReadingState,
  { setTimeout }: { readonly setTimeout: (after: () => void, ms: number) => unknown },
): (() => void) =>
  requestOnChange<ObjectRequest>({
    setTimeout,
    currentRequest: () => (isObjectVisible(reading, page) ? currentRequest(page, reading) : undefined),
    isSameRequest: (a, b) => a.uid === b.uid && a.at === b.at && isSameList(a.dependencies, b.dependencies),
    send: (request) => loadObject(page, reading, request),
  });

/**
 * Returns the request to send. Undefined while the user scrubs the timeline or the connection is lost. For a deleted
 * pod, requests the last known object.
 */
function currentRequest(page: Page, { object, objectRetries }: ReadingState): ObjectRequest | undefined {
  const uid = podUidOf(page.selectedPath.value ?? '');
  const world = page.world.value;
  const retryCount = objectRetries.value;
  if (uid === undefined || page.isDragging.value || page.connection.value.kind === 'lost') return undefined;
  const pod = world.pods.get(uid);
  const isAlreadyLoaded = object.peek()?.uid === uid && object.peek()?.content !== undefined;
  if (!pod) return isAlreadyLoaded ? undefined : { uid, at: page.lastKnown.peek()?.at, dependencies: [retryCount] };
  const at = page.past.value || page.frozen.value ? world.at : undefined;
  return { uid, at, dependencies: [retryCount, pod, ...actorsOfPod(world, uid)] };
}

/** Loads a pod's manifest and status. The previous ones remain visible until the response has arrived. */
async function loadObject(page: Page, { object }: ReadingState, { uid, at }: ObjectRequest): Promise<void> {
  const previousObject = object.peek()?.uid === uid ? object.peek() : undefined;
  object.value = { ...previousObject, uid };
  const isStillSelected = () => podUidOf(page.selectedPath.peek() ?? '') === uid;
  try {
    const content = await page.client.object(uid, at);
    if (isStillSelected()) object.value = { uid, content };
  } catch (error) {
    if (isStillSelected()) object.value = { ...previousObject, uid, error: errorMessage(error) };
  }
}

/** Minimum interval between announcements, in milliseconds. */
const MIN_ANNOUNCEMENT_INTERVAL_MS = 5_000;

/**
 * Creates an announcer for screen readers. It announces changes to a text at most every five seconds and skips
 * intermediate versions.
 */
export function createAnnouncer({
  now,
  setTimeout: scheduleTimeout,
}: {
  now: () => number;
  setTimeout: (after: () => void, ms: number) => unknown;
}) {
  const announcement = signal('');
  let lastAnnouncedAt = Number.NEGATIVE_INFINITY;
  let nextText: string | undefined;
  const announceNext = () => {
    if (nextText === undefined) return;
    announcement.value = nextText;
    nextText = undefined;
    lastAnnouncedAt = now();
  };
  return {
    announcement,
    announce(text: string): void {
      if (text === (nextText ?? announcement.peek())) return;
      const isWaiting = nextText !== undefined;
      nextText = text;
      const remainingMs = lastAnnouncedAt + MIN_ANNOUNCEMENT_INTERVAL_MS - now();
      if (remainingMs <= 0) announceNext();
      else if (!isWaiting) scheduleTimeout(announceNext, remainingMs);
    },
  };
}
