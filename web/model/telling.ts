/** The story of the selected pod as the page has it: asked for as far as it is looked at, and gone on with by what comes live. */

import { batch, computed, effect, signal } from '@preact/signals';
import type { Story, StoryLine } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import type { Page } from './page.ts';
import { appended, isOfPod, lifeCutter, rejoined, storyOfNow, toldFrom, withoutKnown } from './storyGrowth.ts';
import type { Row } from './storyRows.ts';
import { growingSteps, type Step } from './storySteps.ts';
import { FIRST_WINDOW, type TimeWindow, type WindowChoice, windowOf } from './storyWindow.ts';

/** A story that is known, and whose it is. */
export interface Known {
  /** Empty: the node's own. */
  readonly uid: string;
  readonly story: Story;
  /** What comes live continues it, as long as none of that was missed. */
  readonly isOpen: boolean;
  /** How often something live had been missed when it was asked for. */
  readonly holes: number;
  /** Since when it was asked for: of too much the earliest was left out. */
  readonly askedFrom: number;
  /** Nothing could be asked for: it begins when the page did. */
  readonly isUnrecorded?: boolean;
}

/** What the pointer is at, in whichever panel: its line, its arrow and its way belong together. */
export interface Pointed {
  /** The line's key. */
  readonly row?: string;
  readonly actor: string;
  /** The states between which it moved. */
  readonly from?: string;
  readonly to?: string;
}

/** What of the story the panels share. */
export function createTelling(page: Page) {
  const known = signal<Known | undefined>(undefined);
  const choice = signal<WindowChoice>(FIRST_WINDOW);
  const stepsSoFar = growingSteps();
  const cutToLife = lifeCutter();
  const life = computed<Story | undefined>(() => {
    const at = page.past.value ? page.now.value : Number.POSITIVE_INFINITY;
    return known.value && cutToLife(known.value.story, at);
  });
  /** What comes live while a story is on its way; none: none is, or some of it was missed. */
  const coming: { now?: Coming | undefined } = {};
  return {
    known,
    choice,
    coming,
    trouble: signal<string | undefined>(undefined),
    /** The story of the pod's life at the moment that is shown. */
    life,
    steps: computed<readonly Step[]>(() => (life.value ? stepsSoFar(life.value) : [])),
    window: computed<TimeWindow>(() => windowOf(choice.value, page.now.value, lastOf(page))),
    pointed: signal<Pointed | undefined>(undefined),
    /** The line that is open. */
    opened: signal<string | undefined>(undefined),
    /** The beginning of the burst that was chosen; undefined: the one of the moment. */
    burst: signal<number | undefined>(undefined),
    tries: signal(0),
    /** Counts how often something live was missed: what is known since before has to be asked for. */
    holes: signal(0),
  };
}

/** The lines about one pod, or about the node itself. */
interface Coming {
  readonly uid: string;
  readonly lines: StoryLine[];
}

/** The last moment that is known: it goes on while one looks at the past. */
export const lastOf = (page: Page): number => {
  if (page.mode !== 'live') return page.recorded.value?.to ?? page.now.value;
  if (!page.past.value) return page.now.value;
  return page.connection.value.kind === 'lost' ? page.live.value.at : page.present.value;
};

/** What of the story the panels share. */
export type Telling = ReturnType<typeof createTelling>;

interface Wanted {
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** It goes on. */
  readonly isOpen: boolean;
  readonly tries: number;
  readonly holes: number;
}

/** A busy node leaves lines out of frame after frame: what was missed is asked for no more often. */
const MISSED_EVERY_MS = 1_000;

/** Keeps the story to what is selected and looked at until the function that it returns is called: one question at a time. */
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
    // The clock looks again.
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

/** What is looked at; nothing new while the hand is on the rail or the connection is lost. */
function wantedOf(page: Page, telling: Telling): Wanted | undefined {
  const selected = page.selected.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  const [tries, holes] = [telling.tries.value, telling.holes.value];
  const window = telling.window.value;
  // What had to wait a little is looked at again.
  void page.wall.value;
  if (selected === undefined || isStill) return undefined;
  const recorded = page.recorded.value;
  const end = page.mode === 'live' ? page.live.value.at : (recorded?.to ?? window.to);
  const from = Math.max(window.from, recorded?.from ?? Number.NEGATIVE_INFINITY);
  // What came last may be ahead of a clock of seconds.
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

/** What was left out of what was asked for is not asked for again; of another stretch there may be room for it. */
const isWide = ({ from, isOpen }: Wanted, { story, askedFrom, isOpen: wasOpen }: Known): boolean =>
  toldFrom(story) <= from || (wasOpen === isOpen && askedFrom <= from);

/** The story that goes on with what was missed of it; undefined: all of it has to be asked for. */
const resumedOf = (wanted: Wanted, known: Known | undefined): Known | undefined => {
  if (known?.uid !== wanted.uid || known.isUnrecorded || !known.isOpen || !wanted.isOpen) return undefined;
  return isWide(wanted, known) && known.holes !== wanted.holes && known.story.to <= wanted.to ? known : undefined;
};

/** More than is looked at, so that not each step aside asks again; of what is known but for its end, only that. */
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
      // A node that records nothing tells what happens from now on.
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

/** Takes in what came live; where lines were left out of it, nobody knows whose. */
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

/** Some of what happened was not told: the story is asked for again from its end on. */
export function takeHole({ coming, holes }: Telling): void {
  coming.now = undefined;
  holes.value += 1;
}

/** What a line points at. */
export const pointedAt = ({ key, actor, move }: Row): Pointed => ({
  row: key,
  actor,
  ...(move?.from === undefined ? {} : { from: move.from }),
  ...(move === undefined ? {} : { to: move.state }),
});
