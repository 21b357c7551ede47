/** Loads the story of the selected pod for the visible time range, and continues it with live lines. */

import { batch, computed, effect, signal } from '@preact/signals';
import type { Story, StoryLine } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import type { Page } from './page.ts';
import { appended, isOfPod, lifeCutter, rejoined, storyOfNow, toldFrom, withoutKnown } from './storyGrowth.ts';
import type { Row } from './storyRows.ts';
import { growingSteps, type Step } from './storySteps.ts';
import { FIRST_WINDOW, type TimeWindow, type WindowChoice, windowOf } from './storyWindow.ts';

/** A loaded story and its owner. */
export interface Known {
  /** UID of the pod. Empty for the node's own actors. */
  readonly uid: string;
  readonly story: Story;
  /** Whether live lines continue the story, as long as none are missed. */
  readonly isOpen: boolean;
  /** Value of the `holes` counter at the time of the request. */
  readonly holes: number;
  /** Start of the requested range. The server leaves out the earliest lines if there are too many. */
  readonly askedFrom: number;
  /** Whether the node does not record, so that the story starts when the page was opened. */
  readonly isUnrecorded?: boolean;
}

/** The element under the pointer. All panels highlight the corresponding row, arrow and transition. */
export interface Pointed {
  /** Key of the row. */
  readonly row?: string;
  readonly actor: string;
  /** States before and after the transition. */
  readonly from?: string;
  readonly to?: string;
}

/** Creates the signals of the story that the panels share. */
export function createTelling(page: Page) {
  const known = signal<Known | undefined>(undefined);
  const choice = signal<WindowChoice>(FIRST_WINDOW);
  const stepsSoFar = growingSteps();
  const cutToLife = lifeCutter();
  const life = computed<Story | undefined>(() => {
    const at = page.past.value ? page.now.value : Number.POSITIVE_INFINITY;
    return known.value && cutToLife(known.value.story, at);
  });
  /** Collects live lines while a story is loading. Undefined if no story is loading or live lines were missed. */
  const coming: { now?: Coming | undefined } = {};
  return {
    known,
    choice,
    coming,
    trouble: signal<string | undefined>(undefined),
    /** The story of the agent's life at the displayed time. */
    life,
    steps: computed<readonly Step[]>(() => (life.value ? stepsSoFar(life.value) : [])),
    window: computed<TimeWindow>(() => windowOf(choice.value, page.now.value, lastOf(page))),
    pointed: signal<Pointed | undefined>(undefined),
    /** Key of the expanded row. */
    opened: signal<string | undefined>(undefined),
    /** Start of the selected burst. Undefined to follow the displayed time. */
    burst: signal<number | undefined>(undefined),
    tries: signal(0),
    /** Counts gaps in the live lines. A story loaded before the latest gap has to be completed by a request. */
    holes: signal(0),
  };
}

/** Live lines about one pod or about the node itself. */
interface Coming {
  readonly uid: string;
  readonly lines: StoryLine[];
}

/** Returns the latest known time, which advances even while the user looks at the past. */
export const lastOf = (page: Page): number => {
  if (page.mode !== 'live') return page.recorded.value?.to ?? page.now.value;
  if (!page.past.value) return page.now.value;
  return page.connection.value.kind === 'lost' ? page.live.value.at : page.present.value;
};

export type Telling = ReturnType<typeof createTelling>;

interface Wanted {
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** Whether the range includes the latest known time. */
  readonly isOpen: boolean;
  readonly tries: number;
  readonly holes: number;
}

/** Minimum interval between requests for missed lines, because a busy node may leave out lines from every frame. */
const MISSED_EVERY_MS = 1_000;

/**
 * Loads the story of the selection and the visible range until the returned function is called, one request at a time.
 */
export function followStory(page: Page, telling: Telling): () => void {
  let isAsking = false;
  let failed: Wanted | undefined;
  let last: Wanted | undefined;
  let missedAt = Number.NEGATIVE_INFINITY;
  const look = () => {
    const wanted = wantedOf(page, telling);
    if (isAsking || wanted === undefined || isKnown(wanted, telling.known.value) || isSame(wanted, failed)) return;
    const isMissed =
      last !== undefined && last.holes !== wanted.holes && isSame(wanted, { ...last, holes: wanted.holes });
    // The next tick of the clock tries again.
    if (isMissed && page.readNow() < missedAt + MISSED_EVERY_MS) return;
    if (isMissed) missedAt = page.readNow();
    last = wanted;
    isAsking = true;
    void ask(page, telling, wanted).then((isThere) => {
      isAsking = false;
      failed = isThere ? undefined : wanted;
      look();
    });
  };
  return effect(look);
}

const isSame = (one: Wanted, other: Wanted | undefined): boolean =>
  one.uid === other?.uid && one.tries === other.tries && one.isOpen === other.isOpen && one.holes === other.holes;

/** Returns the range to load. Undefined while the user drags the rail or the connection is lost. */
function wantedOf(page: Page, telling: Telling): Wanted | undefined {
  const selected = page.selected.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  const [tries, holes] = [telling.tries.value, telling.holes.value];
  const window = telling.window.value;
  // Depend on the clock, so that a postponed request is retried.
  void page.wall.value;
  if (selected === undefined || isStill) return undefined;
  const recorded = page.recorded.value;
  const end = page.mode === 'live' ? page.live.value.at : (recorded?.to ?? window.to);
  const from = Math.max(window.from, recorded?.from ?? Number.NEGATIVE_INFINITY);
  // The latest lines may be ahead of the clock, which only has whole seconds.
  const isOpen = page.mode === 'live' && window.to >= Math.min(end, lastOf(page));
  const to = isOpen ? end : Math.min(window.to, end);
  return { uid: podUidOf(selected) ?? '', from, to, isOpen, tries, holes };
}

function isKnown(wanted: Wanted, known: Known | undefined): boolean {
  if (known?.uid !== wanted.uid) return false;
  const isWhole = known.holes === wanted.holes;
  if (known.isUnrecorded) return isWhole;
  return isWide(wanted, known) && ((known.isOpen && isWhole) || (!wanted.isOpen && known.story.to >= wanted.to));
}

/**
 * Whether the loaded range is wide enough. Lines that the server left out are not requested again for the same range,
 * but a different range may have room for them.
 */
const isWide = ({ from, isOpen }: Wanted, { story, askedFrom, isOpen: wasOpen }: Known): boolean =>
  toldFrom(story) <= from || (wasOpen === isOpen && askedFrom <= from);

/** Returns the loaded story if requesting its missing end is enough. Undefined if all of it has to be loaded. */
const resumedOf = (wanted: Wanted, known: Known | undefined): Known | undefined => {
  if (known?.uid !== wanted.uid || known.isUnrecorded || !known.isOpen || !wanted.isOpen) return undefined;
  return isWide(wanted, known) && known.holes !== wanted.holes && known.story.to <= wanted.to ? known : undefined;
};

/**
 * Loads a story. It requests more than the visible range, so that scrolling a little needs no new request. If only the
 * end is missing, it requests only that.
 */
async function ask(page: Page, telling: Telling, wanted: Wanted): Promise<boolean> {
  const { uid, from, to, isOpen, holes } = wanted;
  const { known, coming, trouble } = telling;
  const beyond = (to - from) / 2;
  const resumed = resumedOf(wanted, known.peek());
  const askedFrom = resumed?.askedFrom ?? Math.round(from - beyond);
  if (known.peek()?.uid !== uid) known.value = undefined;
  coming.now = { uid, lines: [] };
  try {
    const told = await page.asking.story(uid, resumed?.story.to ?? askedFrom, Math.round(isOpen ? to : to + beyond));
    const late = withoutKnown(coming.now?.lines ?? [], told);
    const story = resumed ? rejoined(resumed.story, told) : told;
    batch(() => {
      known.value = { uid, story: isOpen ? appended(story, late, 0) : story, isOpen, askedFrom, holes };
      trouble.value = undefined;
    });
    return true;
  } catch (error) {
    batch(() => {
      // A node that does not record only provides live lines.
      if (page.mode === 'live' && page.recorded.peek() === undefined)
        known.value = unrecorded(page, { uid, askedFrom, holes: telling.holes.peek() });
      else trouble.value = messageOf(error);
    });
    return false;
  } finally {
    coming.now = undefined;
  }
}

const unrecorded = (page: Page, asked: Pick<Known, 'uid' | 'askedFrom' | 'holes'>): Known => ({
  ...asked,
  story: storyOfNow(page.live.peek(), asked.uid),
  isOpen: true,
  isUnrecorded: true,
});

/** Appends live lines. If lines were left out, the owner of those lines is unknown. */
export function takeLines(telling: Telling, lines: readonly StoryLine[], unsaid: number): void {
  const { known, coming } = telling;
  const now = known.peek();
  if (unsaid > 0 && !now?.isUnrecorded) {
    takeHole(telling);
    return;
  }
  const { now: underway } = coming;
  if (underway) underway.lines.push(...lines.filter((line) => isOfPod(line, underway.uid)));
  if (!now?.isOpen || now.holes !== telling.holes.peek()) return;
  const own = lines.filter((line) => isOfPod(line, now.uid));
  if (own.length > 0 || unsaid > 0) known.value = { ...now, story: appended(now.story, own, unsaid) };
}

/** Records a gap in the live lines, so that the story is requested again from its end on. */
export function takeHole({ coming, holes }: Telling): void {
  coming.now = undefined;
  holes.value += 1;
}

/** Returns the highlight for a row. */
export const pointedAt = ({ key, actor, move }: Row): Pointed => ({
  row: key,
  actor,
  ...(move?.from === undefined ? {} : { from: move.from }),
  ...(move === undefined ? {} : { to: move.state }),
});
