/** The state of the reading panels: tabs, the pod's object, and screen reader announcements. */

import { signal } from '@preact/signals';
import type { ShownObject } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import { familyOf } from './detail.ts';
import { isSameList, keepAsking } from './keepAsking.ts';
import { createLogTab } from './logTab.ts';
import type { Page } from './page.ts';

/** The panels of a narrow page, which shows one at a time. */
export const NARROW_TABS = ['why', 'story', 'chart', 'actors'] as const;

/** The tabs of the Why panel. */
export const WHY_TABS = ['why', 'log', 'events', 'manifest'] as const;

/** Creates the state that only the reading panels use. */
export function createReading() {
  return {
    /** The visible panel of a narrow page. */
    narrowTab: signal<(typeof NARROW_TABS)[number]>('why'),
    whyTab: signal<(typeof WHY_TABS)[number]>('why'),
    /** Whether the drawer with the Why panel is open, on pages too narrow for a separate column. */
    isDrawerOpen: signal(false),
    areKeysShown: signal(false),
    logTab: createLogTab(),
    object: signal<ObjectAsked | undefined>(undefined),
    /** Number of retries requested by the user. */
    objectTries: signal(0),
  };
}

export type Reading = ReturnType<typeof createReading>;

/** A pod's object, or the failure to load it. */
interface ObjectAsked {
  readonly uid: string;
  /** The last loaded object. Undefined while the first one is loading. */
  readonly shown?: ShownObject;
  /** Error message of the last failed request. */
  readonly trouble?: string;
}

/** Whether the manifest, the conditions or the status are visible. */
const isObjectSeen = ({ whyTab }: Reading, page: Page): boolean =>
  whyTab.value === 'manifest' || page.place.value.isPodPage;

/** Whether the log and the events of the selected actor are visible. */
export const areDetailsSeen = ({ whyTab }: Reading, page: Page): boolean =>
  whyTab.value !== 'manifest' || page.place.value.isPodPage;

interface ObjectQuestion {
  readonly uid: string;
  readonly at: number | undefined;
  /** Values that the object depends on. It is not requested again while these are identical. */
  readonly of: readonly unknown[];
}

/** Loads the object of the selected actor's pod while it is visible, until the returned function is called. */
export const followObject = (
  page: Page,
  reading: Reading,
  { setTimeout }: { readonly setTimeout: (after: () => void, ms: number) => unknown },
): (() => void) =>
  keepAsking<ObjectQuestion>({
    setTimeout,
    question: () => (isObjectSeen(reading, page) ? questionOf(page, reading) : undefined),
    isSame: (one, other) => one.uid === other.uid && one.at === other.at && isSameList(one.of, other.of),
    ask: (question) => readObject(page, reading, question),
  });

/**
 * Returns the request to send. Undefined while the user drags the rail or the connection is lost. For a deleted pod, it
 * requests the last known object.
 */
function questionOf(page: Page, { object, objectTries }: Reading): ObjectQuestion | undefined {
  const uid = podUidOf(page.selected.value ?? '');
  const world = page.world.value;
  const tries = objectTries.value;
  if (uid === undefined || page.isMoving.value || page.connection.value.kind === 'lost') return undefined;
  const pod = world.pods.get(uid);
  const isKnown = object.peek()?.uid === uid && object.peek()?.shown !== undefined;
  if (!pod) return isKnown ? undefined : { uid, at: page.lastSeen.peek()?.at, of: [tries] };
  const at = page.past.value || page.held.value ? world.at : undefined;
  return { uid, at, of: [tries, pod, ...familyOf(world, uid)] };
}

/** Loads the object. The previous one stays visible until the response arrives. */
async function readObject(page: Page, { object }: Reading, { uid, at }: ObjectQuestion): Promise<void> {
  const known = object.peek()?.uid === uid ? object.peek() : undefined;
  object.value = { ...known, uid };
  const isWanted = () => podUidOf(page.selected.peek() ?? '') === uid;
  try {
    const shown = await page.asking.object(uid, at);
    if (isWanted()) object.value = { uid, shown };
  } catch (error) {
    if (isWanted()) object.value = { ...known, uid, trouble: messageOf(error) };
  }
}

/** Minimum interval between announcements. */
const SAY_EVERY_MS = 5_000;

/**
 * Creates an announcer for screen readers. It announces changed answers, at most one every five seconds, and drops
 * intermediate ones.
 */
export function createSpeaker({
  now,
  setTimeout: later,
}: {
  now: () => number;
  setTimeout: (after: () => void, ms: number) => unknown;
}) {
  const said = signal('');
  let last = Number.NEGATIVE_INFINITY;
  let next: string | undefined;
  const speak = () => {
    if (next === undefined) return;
    said.value = next;
    next = undefined;
    last = now();
  };
  return {
    /** The announced text. */
    said,
    say(text: string): void {
      if (text === (next ?? said.peek())) return;
      const isWaiting = next !== undefined;
      next = text;
      const left = last + SAY_EVERY_MS - now();
      if (left <= 0) speak();
      else if (!isWaiting) later(speak, left);
    },
  };
}
