/** Combines a drawing with the state of an actor: its active state, its past transitions and the next one. */

import { humanDuration } from '../../../base/duration.ts';
import type { Drawing, DrawnState, DrawnWay, FoldedState, NextWay, Taken } from '../../../inspect/protocol.ts';
import { type Category, findCategory } from '../../../show/category.ts';
import { formatShortDuration } from '../rail/time.ts';

/** The state of an actor as needed by its chart. */
export interface ChartActor {
  /** The active states, separated by spaces if regions are parallel. */
  readonly state: string;
  readonly tags: readonly string[];
  readonly since: number;
  readonly until?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly taken?: Taken | undefined;
  readonly next?: readonly NextWay[] | undefined;
  readonly now: number;
}

/** A state as it is drawn. */
export interface StateView {
  readonly drawn: DrawnState;
  /** The active state that the box represents, which is its own or one folded into it. */
  readonly active?: ActiveStateView;
  /** Whether the box contains an active state. */
  readonly containsActive: boolean;
  /** Whether the actor is known to have been in this state. */
  readonly wasVisited: boolean;
  /** Duration of the current or last stay in this state. */
  readonly duration?: string;
}

/** The active state. */
interface ActiveStateView {
  readonly state: string;
  readonly label: string;
  readonly category: Category;
  readonly waitingFor?: string;
  /** Elapsed fraction of the wait, from 0 to 1. Undefined if its end is unknown. */
  readonly progress?: number;
}

/** A transition as it is drawn. */
export interface ArrowView {
  readonly drawn: DrawnWay;
  readonly look: 'idle' | 'taken' | 'last' | 'next';
  /** Number of times that the transition was taken. */
  readonly count: number;
  readonly lastAt?: number;
  /** Time until a timer takes the transition, e.g. `48s`. */
  readonly timeLeft?: string;
}

/** The whole chart as it is drawn. */
export interface ChartView {
  readonly states: readonly StateView[];
  /** Sorted so that highlighted transitions are last and drawn on top. */
  readonly arrows: readonly ArrowView[];
}

/** Returns the active states of an actor. */
export const activeStates = (state: string): string[] => state.split(' ').filter(Boolean);

const isInside = (state: string, outer: string): boolean => state.startsWith(`${outer}.`);

/** Returns the box that represents a state, which is its own or the one that it is folded into. */
export const boxOf = ({ states }: Drawing, state: string): DrawnState | undefined =>
  states.find((each) => each.state === state) ??
  states.find(({ holds }) => holds?.some((each) => each.state === state));

/** Combines a drawing with an actor. Without an actor, it shows the plain machine. */
export function buildChartView(drawing: Drawing, actor?: ChartActor): ChartView {
  const states = drawing.states.map((drawn) => stateView(drawn, actor));
  const activeBoxes = states.filter((state) => state.active).map(({ drawn }) => drawn.state);
  const sourceStates = new Set(
    states.filter((state) => state.active || state.containsActive).map(({ drawn }) => drawn.state),
  );
  const views = drawing.ways.map((drawn) => arrowView(drawn, actor, sourceStates.has(drawn.from)));
  const lastTaken = actor && lastArrow(views, activeBoxes);
  const arrows = views.map((way) =>
    way === lastTaken && way.look !== 'next' ? { ...way, look: 'last' as const } : way,
  );
  const order = ['idle', 'taken', 'last', 'next'];
  return { states, arrows: arrows.toSorted((a, b) => order.indexOf(a.look) - order.indexOf(b.look)) };
}

function stateView(drawn: DrawnState, actor: ChartActor | undefined): StateView {
  const active = activeStates(actor?.state ?? '');
  const state = active.find((each) => each === drawn.state || drawn.holds?.some((folded) => folded.state === each));
  const containsActive = active.some((each) => isInside(each, drawn.state));
  if (actor === undefined) return { drawn, containsActive: false, wasVisited: false };
  if (state !== undefined) {
    const duration = formatShortDuration(Math.max(0, actor.now - actor.since));
    return { drawn, active: activeStateView(state, drawn, actor), containsActive, wasVisited: true, duration };
  }
  const lastMs = actor.taken?.stays.find((stay) => stay.state === drawn.state)?.lastMs;
  const wasVisited = containsActive || (actor.taken?.stays.some((stay) => isPartOf(stay.state, drawn)) ?? false);
  return {
    drawn,
    containsActive,
    wasVisited,
    ...(lastMs === undefined ? {} : { duration: formatShortDuration(lastMs) }),
  };
}

const isPartOf = (state: string, { state: own, holds = [] }: DrawnState): boolean =>
  state === own || isInside(state, own) || holds.some((folded) => folded.state === state);

function activeStateView(state: string, drawn: DrawnState, actor: ChartActor): ActiveStateView {
  const folded: FoldedState | undefined = drawn.holds?.find((candidate) => candidate.state === state);
  const { since, until, now, waitingFor } = actor;
  const progress =
    until !== undefined && until > since ? Math.min(1, Math.max(0, (now - since) / (until - since))) : undefined;
  return {
    state,
    label: folded?.label ?? drawn.label,
    category: findCategory(actor.tags) ?? 'broken',
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(progress === undefined ? {} : { progress }),
  };
}

/** Creates the view of an arrow. `isOpen` is true if the actor is in the source state of the transition. */
function arrowView(drawn: DrawnWay, actor: ChartActor | undefined, isOpen: boolean): ArrowView {
  const taken = actor?.taken?.ways.filter(({ way }) => drawn.ways.includes(way)) ?? [];
  const count = taken.reduce((sum, way) => sum + way.count, 0);
  const timed = (isOpen ? actor?.next : undefined)?.find(({ way, at }) => at !== undefined && drawn.ways.includes(way));
  const view = { drawn, count, ...(count > 0 ? { lastAt: Math.max(...taken.map(({ lastAt }) => lastAt)) } : {}) };
  if (actor === undefined || timed?.at === undefined) return { ...view, look: count > 0 ? 'taken' : 'idle' };
  return { ...view, look: 'next', timeLeft: humanDuration(Math.max(0, timed.at - actor.now)) };
}

/** Returns the transition that led to the current state. */
function lastArrow(arrows: readonly ArrowView[], activeBoxes: readonly string[]): ArrowView | undefined {
  const isTo = (to: string) => activeBoxes.some((state) => state === to || isInside(state, to));
  const candidates = arrows.filter(({ drawn, lastAt }) => lastAt !== undefined && isTo(drawn.to));
  return candidates.sort((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0))[0];
}
