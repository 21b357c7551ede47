/** All that the panels share, as signals: who, when, how, and what is known of the node. */
import { computed, signal } from '@preact/signals';
import type { ActorHistory, Detail, Rail, ShownActor, ShownPod, Snapshot } from '../../inspect/protocol.ts';
import type { Asking } from './asking.ts';
import { noKeys } from './keys.ts';
import type { Place } from './place.ts';
import { type World, worldOf } from './world.ts';

/** How the page is connected to what it shows. */
type Connection =
  | { readonly kind: 'live' }
  /** A recording: nothing comes by itself. */
  | { readonly kind: 'still' }
  | { readonly kind: 'lost'; readonly since: number; readonly retryAt: number };

/** A moment of the past that is asked for. */
type MomentAsked =
  | { readonly kind: 'asked'; readonly at: number; readonly since: number }
  | { readonly kind: 'failed'; readonly at: number; readonly message: string };

/** The selected actor as it was seen last: it may be gone in the world that is shown. */
export interface LastSeen {
  readonly actor: ShownActor;
  /** Absent: one of the node's own. */
  readonly pod?: ShownPod;
  readonly at: number;
}

/** The browser's history: URLs of places. */
interface PageHistory {
  push(url: string): void;
  replace(url: string): void;
}

/** A page that nobody goes back on. */
const NO_HISTORY: PageHistory = { push: () => {}, replace: () => {} };

interface Given {
  readonly first: Snapshot;
  readonly place: Place;
  readonly asking: Asking;
  readonly now: () => number;
  readonly history?: PageHistory;
}

/** A frame takes no longer, as a rule. */
const UNDERWAY_MS = 500;

/** The clocks of the browser and of the node, which may differ. */
function clockOfNode({ at, mode }: Snapshot, now: () => number) {
  /** The browser's own clock, once a second: one timer for all countdowns. */
  const wall = signal(now());
  /** So far the node's clock is ahead of the browser's; nobody knows of what clock a recording is. */
  const ahead = signal(mode === 'live' ? at - wall.peek() : 0);
  return {
    wall,
    /** The node's clock, once a second: it goes on whatever is shown, and while nothing is told. */
    present: computed(() => wall.value + ahead.value),
    /** Takes in what the node's clock has just shown. */
    tellTime(shown: number): void {
      const told = shown - now();
      // How long it was underway differs: not each frame is to move all that counts time.
      if (Math.abs(told - ahead.peek()) > UNDERWAY_MS) ahead.value = told;
    },
  };
}

/** Clocks show whole seconds. With a fraction, what is left of a wait would not fit the clock and the end of the wait. */
const wholeSeconds = (at: number): number => Math.floor(at / 1_000) * 1_000;

/** When: the node as it goes on, a moment of the past, or the picture that is held. */
function timeOf(first: Snapshot, now: () => number) {
  const world = worldOf(first);
  /** The node as it goes on. */
  const live = signal<World>(world);
  /** The moment that is looked at; undefined: now. */
  const past = signal<World | undefined>(first.mode === 'live' ? undefined : world);
  /** Space: the picture stands while the node goes on. */
  const held = signal<World | undefined>(undefined);
  const clock = clockOfNode(first, now);
  const connection = signal<Connection>(first.mode === 'file' ? { kind: 'still' } : { kind: 'live' });
  return {
    live,
    past,
    held,
    connection,
    ...clock,
    /** What every panel shows. */
    world: computed(() => past.value ?? held.value ?? live.value),
    /** What ages and countdowns count from, once a second; they stop while the connection is lost. */
    now: computed(() => {
      const still = past.value ?? held.value;
      if (still || connection.value.kind === 'lost') return (still ?? live.value).at;
      return wholeSeconds(clock.present.value);
    }),
    /** The moment that is on its way, or why it did not come; undefined: what is shown is what was asked for. */
    moment: signal<MomentAsked | undefined>(undefined),
    /** The head of the rail is being dragged: only tree and chart follow. */
    isMoving: signal(false),
    /** How much has happened since the picture is held. */
    sinceHeld: signal(0),
    recorded: signal(first.recorded),
    rail: signal<Rail | undefined>(undefined),
  };
}

/** The page's state. Panels read its signals; `actions.ts` has what changes several of them at once. */
export function createPage({ first, place, asking, now, history = NO_HISTORY }: Given) {
  return {
    asking,
    history,
    readNow: now,
    mode: first.mode,
    place: signal(place),
    ...timeOf(first, now),
    /** The path of the actor that is selected; undefined: none yet. It follows the place. */
    selected: signal<string | undefined>(undefined),
    lastSeen: signal<LastSeen | undefined>(undefined),
    /** What is known of the selected actor beside; that of another path, or none, until it has come. */
    detail: signal<Detail | undefined>(undefined),
    /** Why that of an actor does not come. */
    detailTrouble: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** The history of the selected actor; that of a different path, or none, until it has been read. */
    actorHistory: signal<ActorHistory | undefined>(undefined),
    /** Why the history of an actor could not be read. */
    historyTrouble: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** Counts the attempts that somebody has asked for. */
    detailTries: signal(0),
    keys: noKeys(),
  };
}

/** The page's state. */
export type Page = ReturnType<typeof createPage>;
