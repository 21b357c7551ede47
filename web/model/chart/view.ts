/**
 * Combines a drawing with the state of an actor, i.e. the active state, the transitions that the actor has taken, and
 * its next transition.
 */

import { humanDuration } from '../../../base/time/duration.ts';
import type {
  Drawing,
  DrawnState,
  DrawnTransition,
  FoldedState,
  NextWay,
  TakenTransitions,
} from '../../../inspect/protocol.ts';
import { type Category, findCategory } from '../../../show/category.ts';
import { formatShortDuration } from '../rail/time.ts';

/** The part of an actor's state that its chart shows. */
export interface ChartActor {
  /** The active states. They are separated by spaces if regions are parallel. */
  readonly state: string;
  readonly tags: readonly string[];
  readonly since: number;
  readonly until?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly taken?: TakenTransitions | undefined;
  readonly next?: readonly NextWay[] | undefined;
  readonly now: number;
}

/** A state in the chart of an actor. */
export interface StateView {
  readonly drawnState: DrawnState;
  /** The active state that the box represents. It is the state of the box or one that is folded into the box. */
  readonly activeState?: ActiveStateView;
  /** Whether the box contains an active state. */
  readonly containsActive: boolean;
  /** Whether the actor is known to have been in this state. */
  readonly wasVisited: boolean;
  /** Time that the actor has spent in this state, or spent there the last time. */
  readonly duration?: string;
}

interface ActiveStateView {
  readonly state: string;
  readonly label: string;
  readonly category: Category;
  readonly waitingFor?: string;
  /** Elapsed fraction of the wait, from 0 to 1. Undefined if the end of the wait is unknown. */
  readonly progress?: number;
}

/** A transition in the chart of an actor. */
export interface ArrowView {
  readonly drawnTransition: DrawnTransition;
  readonly style: 'idle' | 'taken' | 'last' | 'next';
  /** Number of times that the transition was taken. */
  readonly count: number;
  readonly lastAt?: number;
  /** Time until a timer takes the transition, e.g. `48s`. */
  readonly timeLeft?: string;
}

/** The chart of an actor. */
export interface ChartView {
  readonly states: readonly StateView[];
  /** The arrows in painting order, so that highlighted ones are last and thus on top. */
  readonly arrows: readonly ArrowView[];
}

/** Splits an actor's state into its active states. */
export const activeStates = (state: string): string[] => state.split(' ').filter(Boolean);

const isInside = (state: string, outer: string): boolean => state.startsWith(`${outer}.`);

/** Returns the box that represents a state, which is its own box or the one into which it is folded. */
export const boxOf = ({ states }: Drawing, state: string): DrawnState | undefined =>
  states.find((each) => each.state === state) ??
  states.find(({ foldedStates }) => foldedStates?.some((each) => each.state === state));

/** Combines a drawing with an actor. Without an actor, the chart shows only the state machine. */
export function buildChartView(drawing: Drawing, actor?: ChartActor): ChartView {
  const states = drawing.states.map((drawnState) => stateView(drawnState, actor));
  const activeBoxes = states.filter((state) => state.activeState).map(({ drawnState }) => drawnState.state);
  const sourceStates = new Set(
    states.filter((state) => state.activeState || state.containsActive).map(({ drawnState }) => drawnState.state),
  );
  const arrowViews = drawing.ways.map((drawnTransition) =>
    arrowView(drawnTransition, actor, sourceStates.has(drawnTransition.from)),
  );
  const lastTakenArrow = actor && lastArrow(arrowViews, activeBoxes);
  const arrows = arrowViews.map((arrow) =>
    arrow === lastTakenArrow && arrow.style !== 'next' ? { ...arrow, style: 'last' as const } : arrow,
  );
  const styleOrder = ['idle', 'taken', 'last', 'next'];
  return { states, arrows: arrows.toSorted((a, b) => styleOrder.indexOf(a.style) - styleOrder.indexOf(b.style)) };
}

function stateView(drawnState: DrawnState, actor: ChartActor | undefined): StateView {
  const activeStateNames = activeStates(actor?.state ?? '');
  const state = activeStateNames.find(
    (each) => each === drawnState.state || drawnState.foldedStates?.some((folded) => folded.state === each),
  );
  const containsActive = activeStateNames.some((each) => isInside(each, drawnState.state));
  if (actor === undefined) return { drawnState, containsActive: false, wasVisited: false };
  if (state !== undefined) {
    const duration = formatShortDuration(Math.max(0, actor.now - actor.since));
    return {
      drawnState,
      activeState: activeStateView(state, drawnState, actor),
      containsActive,
      wasVisited: true,
      duration,
    };
  }
  const lastMs = actor.taken?.stays.find((stay) => stay.state === drawnState.state)?.lastMs;
  const wasVisited = containsActive || (actor.taken?.stays.some((stay) => isPartOf(stay.state, drawnState)) ?? false);
  return {
    drawnState,
    containsActive,
    wasVisited,
    ...(lastMs === undefined ? {} : { duration: formatShortDuration(lastMs) }),
  };
}

const isPartOf = (state: string, { state: own, foldedStates = [] }: DrawnState): boolean =>
  state === own || isInside(state, own) || foldedStates.some((folded) => folded.state === state);

function activeStateView(state: string, drawnState: DrawnState, actor: ChartActor): ActiveStateView {
  const foldedState: FoldedState | undefined = drawnState.foldedStates?.find((candidate) => candidate.state === state);
  const { since, until, now, waitingFor } = actor;
  const progress =
    until !== undefined && until > since ? Math.min(1, Math.max(0, (now - since) / (until - since))) : undefined;
  return {
    state,
    label: foldedState?.label ?? drawnState.label,
    category: findCategory(actor.tags) ?? 'broken',
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(progress === undefined ? {} : { progress }),
  };
}

/** Creates the view of an arrow. `isOpen` is true if the actor is in the state at which the arrow starts. */
function arrowView(drawnTransition: DrawnTransition, actor: ChartActor | undefined, isOpen: boolean): ArrowView {
  const takenTransitions = actor?.taken?.ways.filter(({ way }) => drawnTransition.ways.includes(way)) ?? [];
  const count = takenTransitions.reduce((sum, way) => sum + way.count, 0);
  const timedTransition = (isOpen ? actor?.next : undefined)?.find(
    ({ way, at }) => at !== undefined && drawnTransition.ways.includes(way),
  );
  const arrow = {
    drawnTransition,
    count,
    ...(count > 0 ? { lastAt: Math.max(...takenTransitions.map(({ lastAt }) => lastAt)) } : {}),
  };
  if (actor === undefined || timedTransition?.at === undefined)
    return { ...arrow, style: count > 0 ? 'taken' : 'idle' };
  return { ...arrow, style: 'next', timeLeft: humanDuration(Math.max(0, timedTransition.at - actor.now)) };
}

/** Returns the arrow of the transition that led to the active state. */
function lastArrow(arrows: readonly ArrowView[], activeBoxes: readonly string[]): ArrowView | undefined {
  const leadsToActive = (to: string) => activeBoxes.some((state) => state === to || isInside(state, to));
  const candidateArrows = arrows.filter(
    ({ drawnTransition, lastAt }) => lastAt !== undefined && leadsToActive(drawnTransition.to),
  );
  return candidateArrows.sort((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0))[0];
}
