/** What the reading panels ask for beside: a pod's object, when it is looked at; and what the page says aloud. */

import { signal } from '@preact/signals';
import type { ShownObject } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import { familyOf } from './detail.ts';
import { isSameList, keepAsking } from './keepAsking.ts';
import { createLogTab } from './logTab.ts';
import type { Page } from './page.ts';

/** The panels that one may look at where not all of them have room. */
export const NARROW_TABS = ['why', 'story', 'chart', 'actors'] as const;

/** The tabs of the Why panel. */
export const WHY_TABS = ['why', 'log', 'events', 'manifest'] as const;

/** What of a page only its reading panels know. */
export function createReading() {
  return {
    /** Of a narrow page: which panel is shown. */
    narrowTab: signal<(typeof NARROW_TABS)[number]>('why'),
    whyTab: signal<(typeof WHY_TABS)[number]>('why'),
    /** Where Why and the lines have no place of their own: they are pulled out. */
    isDrawerOpen: signal(false),
    areKeysShown: signal(false),
    logTab: createLogTab(),
    object: signal<ObjectAsked | undefined>(undefined),
    /** Counts the attempts that somebody has asked for. */
    objectTries: signal(0),
  };
}

/** What of a page only its reading panels know. */
export type Reading = ReturnType<typeof createReading>;

/** A pod's object, or why there is none. */
interface ObjectAsked {
  readonly uid: string;
  /** As it was last; absent: it is on its way. */
  readonly shown?: ShownObject;
  /** Why it does not come. */
  readonly trouble?: string;
}

/** Whether manifest, conditions or status are looked at. */
const isObjectSeen = ({ whyTab }: Reading, page: Page): boolean =>
  whyTab.value === 'manifest' || page.place.value.isPodPage;

/** Whether the selected actor's log and events are looked at. */
export const areDetailsSeen = ({ whyTab }: Reading, page: Page): boolean =>
  whyTab.value !== 'manifest' || page.place.value.isPodPage;

interface ObjectQuestion {
  readonly uid: string;
  readonly at: number | undefined;
  /** What it is of: as long as these are the same, it is, too. */
  readonly of: readonly unknown[];
}

/** Keeps the object to the selected actor's pod while it is looked at, until the function that it returns is called. */
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

/** Nothing while the hand is on the rail or the connection is lost; of a pod that is gone what was last. */
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

/** What was known of the pod stays until the answer has come. */
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

/** A changed answer is said at most so often. */
const SAY_EVERY_MS = 5_000;

/** Says each new answer, never more often than every five seconds, and then the last one. */
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
    /** What is said. */
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
