/** The story of the selected pod as the page has it: asked for as far as it is looked at, and gone on with by what comes live. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { Story, StoryLine } from '../../inspect/protocol.ts';
import { messageOf } from './actions.ts';
import type { Page } from './page.ts';
import { uidOf } from './selection.ts';
import { appended, isOfPod, storyOfNow, withoutKnown } from './storyGrowth.ts';
import type { Row } from './storyRows.ts';
import { type Step, stepsOf } from './storySteps.ts';
import { FIRST_WINDOW, type TimeWindow, type WindowChoice, windowOf } from './storyWindow.ts';

/** A story that is known, and whose it is. */
export interface Known {
  /** Empty: the node's own. */
  readonly uid: string;
  readonly story: Story;
  /** What comes live continues it. */
  readonly isOpen: boolean;
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
  return {
    ...{ known, choice },
    trouble: signal<string | undefined>(undefined),
    steps: computed<readonly Step[]>(() => (known.value ? stepsOf(known.value.story) : [])),
    window: computed<TimeWindow>(() => windowOf(choice.value, page.now.value, lastOf(page))),
    pointed: signal<Pointed | undefined>(undefined),
    /** The line that is open. */
    opened: signal<string | undefined>(undefined),
    /** The beginning of the burst that was chosen; undefined: the one of the moment. */
    burst: signal<number | undefined>(undefined),
    /** What came live while a story was on its way. */
    coming: signal<readonly StoryLine[]>([]),
    tries: signal(0),
  };
}

/** The last moment that is known: it goes on while one looks at the past, but not with the clock alone. */
export const lastOf = (page: Page): number => {
  if (page.mode !== 'live') return page.recorded.value?.to ?? page.now.value;
  return page.past.value ? page.live.value.at : page.now.value;
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
}

/** Keeps the story to what is selected and looked at until the function that it returns is called: one question at a time. */
export function followStory(page: Page, telling: Telling): () => void {
  let isAsking = false;
  let failed: Wanted | undefined;
  const look = () => {
    const wanted = wantedOf(page, telling);
    if (isAsking || wanted === undefined || isKnown(wanted, telling.known.value) || isSame(wanted, failed)) return;
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
  one.uid === other?.uid && one.tries === other.tries && one.isOpen === other.isOpen;

/** What is looked at; nothing new while the hand is on the rail or the connection is lost. */
function wantedOf(page: Page, telling: Telling): Wanted | undefined {
  const selected = page.selected.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  const tries = telling.tries.value;
  const window = telling.window.value;
  if (selected === undefined || isStill) return undefined;
  const recorded = page.recorded.value;
  const end = page.mode === 'live' ? page.live.value.at : (recorded?.to ?? window.to);
  const from = Math.max(window.from, recorded?.from ?? Number.NEGATIVE_INFINITY);
  const to = Math.min(window.to, end);
  return { uid: uidOf(selected) ?? '', from, to, isOpen: page.mode === 'live' && window.to >= end, tries };
}

function isKnown({ uid, from, to, isOpen }: Wanted, known: Known | undefined): boolean {
  if (known?.uid !== uid) return false;
  if (known.isUnrecorded) return true;
  const { story, askedFrom } = known;
  const told = story.unsaid === undefined ? story.from : (story.lines[0]?.at ?? story.from);
  // What was left out of what was asked for is not asked for again; of another stretch there may be room for it.
  const isWide = told <= from || (known.isOpen === isOpen && askedFrom <= from);
  return isWide && (known.isOpen || (!isOpen && story.to >= to));
}

/** More than is looked at, so that not each step aside asks again. */
async function ask(page: Page, telling: Telling, { uid, from, to, isOpen }: Wanted): Promise<boolean> {
  const { known, coming, trouble } = telling;
  const beyond = (to - from) / 2;
  const askedFrom = Math.round(from - beyond);
  if (known.peek()?.uid !== uid) known.value = undefined;
  coming.value = [];
  try {
    const story = await page.asking.story(uid, askedFrom, Math.round(isOpen ? to : to + beyond));
    const late = withoutKnown(coming.peek(), story);
    batch(() => {
      known.value = { uid, story: isOpen ? appended(story, late, 0) : story, isOpen, askedFrom };
      trouble.value = undefined;
    });
    return true;
  } catch (error) {
    batch(() => {
      // A node that records nothing tells what happens from now on.
      if (page.mode === 'live' && page.recorded.peek() === undefined)
        known.value = { uid, story: storyOfNow(page.live.peek(), uid), isOpen: true, askedFrom, isUnrecorded: true };
      else trouble.value = messageOf(error);
    });
    return false;
  }
}

/** Takes in what came live; `unsaid` lines were left out of it. */
export function takeLines(page: Page, telling: Telling, lines: readonly StoryLine[], unsaid: number): void {
  const { known, coming } = telling;
  const now = known.peek();
  const uid = now?.uid ?? uidOf(page.selected.peek() ?? '') ?? '';
  const own = lines.filter((line) => isOfPod(line, uid));
  const entered = lines.filter(({ kind }) => kind === 'entered').length;
  batch(() => {
    if (page.held.peek()) page.sinceHeld.value += entered + unsaid;
    if (own.length === 0 && unsaid === 0) return;
    coming.value = [...coming.peek(), ...own];
    if (now?.isOpen) known.value = { ...now, story: appended(now.story, own, unsaid) };
  });
}

/** What a line points at. */
export const pointedAt = ({ key, actor, move }: Row): Pointed => ({
  ...{ row: key, actor },
  ...(move?.from === undefined ? {} : { from: move.from }),
  ...(move === undefined ? {} : { to: move.state }),
});
