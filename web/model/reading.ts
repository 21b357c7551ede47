/** What the reading panels ask for beside: a pod's object, when it is looked at; and what the page says aloud. */
import { signal } from '@preact/signals';
import type { ShownObject } from '../../inspect/protocol.ts';
import { messageOf } from './actions.ts';
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
    object: signal<ObjectAsked | undefined>(undefined),
  };
}

/** What of a page only its reading panels know. */
export type Reading = ReturnType<typeof createReading>;

/** A pod's object, or why there is none; neither: it is on its way. */
export interface ObjectAsked {
  readonly uid: string;
  /** The moment that it is asked of; undefined: now. */
  readonly at: number | undefined;
  readonly shown?: ShownObject;
  readonly trouble?: string;
}

/** Asks for a pod's object, unless it is there already; `again` asks in any case. */
export async function readObject(page: Page, { object }: Reading, uid: string, again = false): Promise<void> {
  const at = page.past.peek()?.at;
  const known = object.peek();
  if (!again && known?.uid === uid && known.at === at) return;
  object.value = { uid, at };
  const isAsked = () => object.peek()?.uid === uid && object.peek()?.at === at;
  try {
    const shown = await page.asking.object(uid, at);
    if (isAsked()) object.value = { uid, at, shown };
  } catch (error) {
    if (isAsked()) object.value = { uid, at, trouble: messageOf(error) };
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
