/** What a chart shows of an actor: where it is, which ways it took and how often, which one comes next. */

import { humanDuration } from '../../../base/duration.ts';
import type { Drawing, DrawnState, DrawnWay, FoldedState, NextWay, Taken } from '../../../inspect/protocol.ts';
import { type Category, findCategory } from '../../../show/category.ts';
import { shortSpan } from '../time.ts';

/** An actor as its chart shows it. */
export interface Seen {
  /** Dotted; regions that run in parallel are parted by blanks. */
  readonly state: string;
  readonly tags: readonly string[];
  readonly since: number;
  readonly until?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly taken?: Taken | undefined;
  readonly next?: readonly NextWay[] | undefined;
  readonly now: number;
}

/** A box as it is drawn. */
export interface StateView {
  readonly drawn: DrawnState;
  /** The active state that this box stands for: its own, or one that is folded into it. */
  readonly lit?: LitView;
  /** Whether an active state is inside it. */
  readonly isAround: boolean;
  /** Whether the actor was there, as far as is known. */
  readonly isSeen: boolean;
  /** How long it was there last, or has been by now. */
  readonly stay?: string;
}

/** The state that is active. */
interface LitView {
  readonly state: string;
  readonly label: string;
  readonly category: Category;
  readonly waitingFor?: string;
  /** How much of the wait is over, from 0 to 1; absent where nothing ends it at a known time. */
  readonly progress?: number;
}

/** An arrow as it is drawn. */
export interface WayView {
  readonly drawn: DrawnWay;
  readonly look: 'idle' | 'taken' | 'last' | 'next';
  /** How often it was taken. */
  readonly count: number;
  readonly lastAt?: number;
  /** `48s`, until a timer takes it. */
  readonly in?: string;
}

/** Everything that is drawn. */
export interface ChartView {
  readonly states: readonly StateView[];
  /** Those that stand out are last, so that they are drawn over the others. */
  readonly ways: readonly WayView[];
}

/** The active states of an actor. */
export const activeStates = (state: string): string[] => state.split(' ').filter(Boolean);

const isInside = (state: string, outer: string): boolean => state.startsWith(`${outer}.`);

/** The box that stands for a state: its own, or the one that it is folded into. */
export const boxOf = ({ states }: Drawing, state: string): DrawnState | undefined =>
  states.find((each) => each.state === state) ??
  states.find(({ holds }) => holds?.some((each) => each.state === state));

/** What the drawing shows of an actor; of none the machine as it is. */
export function chartView(drawing: Drawing, seen?: Seen): ChartView {
  const states = drawing.states.map((drawn) => stateView(drawn, seen));
  const lit = states.filter((state) => state.lit).map(({ drawn }) => drawn.state);
  const left = new Set(states.filter((state) => state.lit || state.isAround).map(({ drawn }) => drawn.state));
  const views = drawing.ways.map((drawn) => wayView(drawn, seen, left.has(drawn.from)));
  const last = seen && lastWay(views, lit);
  const ways = views.map((way) => (way === last && way.look !== 'next' ? { ...way, look: 'last' as const } : way));
  const order = ['idle', 'taken', 'last', 'next'];
  return { states, ways: ways.toSorted((one, other) => order.indexOf(one.look) - order.indexOf(other.look)) };
}

function stateView(drawn: DrawnState, seen: Seen | undefined): StateView {
  const active = activeStates(seen?.state ?? '');
  const state = active.find((each) => each === drawn.state || drawn.holds?.some((held) => held.state === each));
  const isAround = active.some((each) => isInside(each, drawn.state));
  if (seen === undefined) return { drawn, isAround: false, isSeen: false };
  if (state !== undefined) {
    const stay = shortSpan(Math.max(0, seen.now - seen.since));
    return { drawn, lit: litView(state, drawn, seen), isAround, isSeen: true, stay };
  }
  const lastMs = seen.taken?.stays.find((stay) => stay.state === drawn.state)?.lastMs;
  const isSeen = isAround || (seen.taken?.stays.some((stay) => isPartOf(stay.state, drawn)) ?? false);
  return { drawn, isAround, isSeen, ...(lastMs === undefined ? {} : { stay: shortSpan(lastMs) }) };
}

const isPartOf = (state: string, { state: own, holds = [] }: DrawnState): boolean =>
  state === own || isInside(state, own) || holds.some((held) => held.state === state);

function litView(state: string, drawn: DrawnState, seen: Seen): LitView {
  const folded: FoldedState | undefined = drawn.holds?.find((held) => held.state === state);
  const { since, until, now, waitingFor } = seen;
  const progress =
    until !== undefined && until > since ? Math.min(1, Math.max(0, (now - since) / (until - since))) : undefined;
  return {
    state,
    label: folded?.label ?? drawn.label,
    category: findCategory(seen.tags) ?? 'broken',
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(progress === undefined ? {} : { progress }),
  };
}

/** `isOpen`: the actor is in the state that it leads out of. */
function wayView(drawn: DrawnWay, seen: Seen | undefined, isOpen: boolean): WayView {
  const taken = seen?.taken?.ways.filter(({ way }) => drawn.ways.includes(way)) ?? [];
  const count = taken.reduce((sum, way) => sum + way.count, 0);
  const timed = (isOpen ? seen?.next : undefined)?.find(({ way, at }) => at !== undefined && drawn.ways.includes(way));
  const view = { drawn, count, ...(count > 0 ? { lastAt: Math.max(...taken.map(({ lastAt }) => lastAt)) } : {}) };
  if (seen === undefined || timed?.at === undefined) return { ...view, look: count > 0 ? 'taken' : 'idle' };
  return { ...view, look: 'next', in: humanDuration(Math.max(0, timed.at - seen.now)) };
}

/** The way by which it came to where it is. */
function lastWay(ways: readonly WayView[], lit: readonly string[]): WayView | undefined {
  const isTo = (to: string) => lit.some((state) => state === to || isInside(state, to));
  const led = ways.filter(({ drawn, lastAt }) => lastAt !== undefined && isTo(drawn.to));
  return led.sort((one, other) => (other.lastAt ?? 0) - (one.lastAt ?? 0))[0];
}
