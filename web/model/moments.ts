/** Going through time: by event, by the selection's change, and playing what was recorded. */
import { signal } from '@preact/signals';
import type { StoryLine } from '../../inspect/protocol.ts';
import { goLive, goTo } from './actions.ts';
import type { Page } from './page.ts';
import { uidOf } from './selection.ts';

/** What one goes by. */
export type By = 'event' | 'change';

/** The nearest moment before or after another one at which something entered, or at which an actor came into a state. */
export function nearest(
  lines: readonly StoryLine[],
  { at, by, actor, isForward }: { at: number; by: By; actor: string; isForward: boolean },
): number | undefined {
  const counts = (line: StoryLine) =>
    by === 'event' ? line.kind === 'entered' : line.kind === 'state' && line.actor === actor;
  const line = isForward
    ? lines.find((each) => each.at > at && counts(each))
    : lines.findLast((each) => each.at < at && counts(each));
  return line?.at;
}

interface Told {
  readonly known: {
    peek(): { readonly uid: string; readonly story: { readonly lines: readonly StoryLine[] } } | undefined;
  };
}

/** Goes to the next such moment, or to that before; past the last one the node goes on. */
export async function stepTo(page: Page, { known }: Told, by: By, isForward: boolean): Promise<void> {
  const actor = page.selected.peek() ?? '';
  const uid = uidOf(actor) ?? '';
  // Keys that are pressed fast go on from where they lead, not from what has come of it so far.
  const at = page.place.peek().at ?? page.now.peek();
  const how = { at, by, actor, isForward };
  const story = known.peek();
  const near = story?.uid === uid ? nearest(story.story.lines, how) : undefined;
  const next = near ?? (await fartherMoment(page, uid, how));
  if (next !== undefined) goTo(page, next);
  else if (isForward) goLive(page);
}

/** Of what is not at hand. */
async function fartherMoment(page: Page, uid: string, how: Parameters<typeof nearest>[1]): Promise<number | undefined> {
  const recorded = page.recorded.peek();
  if (!recorded || (how.isForward && !page.past.peek())) return undefined;
  const [from, to] = how.isForward ? [how.at, recorded.to] : [recorded.from, how.at];
  try {
    return nearest((await page.asking.story(uid, from, to)).lines, how);
  } catch {
    // It is as if there were none: what cannot be read says so where it is shown.
    return undefined;
  }
}

/** How fast the past is played. */
export const SPEEDS = [1, 10, 60] as const;

/** So often the picture moves on while it is played. */
const TICK_MS = 200;

interface Timers {
  readonly later: (after: () => void, ms: number) => unknown;
}

/** Plays what was recorded, from the moment that is shown on. */
export function createPlayer(page: Page, { later }: Timers) {
  /** How many times as fast; undefined: it stands still. */
  const speed = signal<(typeof SPEEDS)[number] | undefined>(undefined);
  let turn = 0;
  /** When it should be at which moment. */
  let began = { wall: 0, at: 0 };
  const end = () => (page.mode === 'live' ? page.live.peek().at : (page.recorded.peek()?.to ?? 0));
  const tick = (mine: number) => {
    const times = speed.peek();
    if (mine !== turn || times === undefined) return;
    const at = began.at + (page.readNow() - began.wall) * times;
    if (at >= end()) {
      stop();
      if (page.mode === 'live') goLive(page);
      else goTo(page, end());
      return;
    }
    goTo(page, Math.round(at), { isMoving: true });
    later(() => tick(mine), TICK_MS);
  };
  const stop = () => {
    if (speed.peek() === undefined) return;
    turn += 1;
    speed.value = undefined;
    page.isMoving.value = false;
  };
  return {
    speed,
    stop,
    play(times: (typeof SPEEDS)[number]): void {
      turn += 1;
      speed.value = times;
      began = { wall: page.readNow(), at: page.now.peek() };
      tick(turn);
    },
  };
}

/** Plays what was recorded. */
export type Player = ReturnType<typeof createPlayer>;

/**
 * The moment that a text names: `07:41:31`, `07:41`, `5m ago` or one of RFC 3339; a time of day is the last one before
 * `now`. Undefined: it names none.
 */
export function momentIn(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  const ago = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?: ago)?$/.exec(trimmed);
  if (ago && trimmed !== '') {
    const [hours = 0, minutes = 0, seconds = 0] = ago.slice(1).map((part) => Number(part ?? 0));
    return now - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  }
  if (/^\d{1,2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(trimmed)) return timeOfDay(trimmed, now);
  // Of what else a browser takes for a date nobody can tell.
  const at = /^\d{4}-\d{2}-\d{2}/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

const DAY_MS = 86_400_000;

function timeOfDay(text: string, now: number): number | undefined {
  const day = new Date(now).toISOString().slice(0, 10);
  const [hours = '', ...others] = text.split(':');
  const at = Date.parse(`${day}T${[hours.padStart(2, '0'), ...others].join(':')}Z`);
  if (Number.isNaN(at)) return undefined;
  return at > now ? at - DAY_MS : at;
}
