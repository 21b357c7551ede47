import type { AnyActorRef } from 'xstate';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { CATEGORIES, type Category } from '../../show/category.ts';
import type { CoverageGap } from './coverageGaps.ts';

/** Returns the time at which an actor entered its current state, in milliseconds since the epoch. */
export type GetStateSince = (ref: AnyActorRef) => number;

/** Data about a machine's actor, passed to the functions in the root `meta` of that machine. */
export interface ActorInfo<Context, Tag extends string = string> {
  readonly id: string;
  readonly since: number;
  readonly snapshot: {
    readonly context: Context;
    readonly children: Readonly<Record<string, AnyActorRef | undefined>>;
    hasTag(tag: Tag): boolean;
  };
  readonly getStateSince: GetStateSince;
}

/** The deadlines that `StateMeta.until` can name, in milliseconds since the epoch. */
export type Deadlines = Readonly<Partial<Record<NonNullable<StateMeta['until']>, number | undefined>>>;

/** A part of a large machine that is drawn separately. */
export interface Region {
  /** One-word ID, which is part of the drawing's file name. */
  readonly id: string;
  readonly title: string;
}

/** The position of a state in the drawing of its region or, if the machine has no regions, of the machine. */
interface Layout {
  /**
   * Column of the state's box, starting at 1. If no state has one, the boxes are laid out from left to right in the
   * order of the chart.
   */
  readonly column?: number;
  /** Whether the state is on the usual path through its region. The drawing collapses the other states. */
  readonly isOnMainPath?: true;
  /** Whether the substates are drawn without a box around them. */
  readonly hasNoBox?: true;
}

/**
 * Properties that a state declares about itself. Every wait must be visible, so a state without `waitsFor` does not
 * wait for anything.
 */
export interface StateMeta {
  /** The awaited event or condition, worded to follow "is waiting for". */
  readonly waitsFor?: string;
  /** Name of the deadline that ends the wait. */
  readonly until?: 'retryAt' | 'restartAt' | 'stopBy' | 'pullBy' | 'deadline' | 'dueAt';
  /** Duration of the wait in milliseconds, if it is constant. */
  readonly afterMs?: number;
  /**
   * Numbers of the Kubernetes rules that the state implements (docs/conformance.md). They also apply to substates without
   * rules of their own.
   */
  readonly rules?: readonly string[];
  /** ID of the region that contains the state. It also applies to substates that declare no other region. */
  readonly region?: string;
  readonly layout?: Layout;
  /**
   * Reason why simulations never, or only rarely, take the transition. On a state, the reason applies to every
   * transition of the state and its substates.
   */
  readonly coverageGap?: CoverageGap;
  /** Regions of the machine, declared only on its root. Each state belongs to one region. */
  readonly regions?: readonly Region[];
  /**
   * Returns the deadlines that are not stored in the context under their own names. Declared only on a machine's root.
   */
  readonly deadlines?: (actor: ActorInfo<never>) => Deadlines;
  /** Inserts into `waitsFor` the names that only the actor knows. Declared only on a machine's root. */
  readonly formatWait?: (waitsFor: string, actor: ActorInfo<never>) => string;
  /** Returns additional details for actor trees. Declared only on a machine's root. */
  readonly facts?: (actor: ActorInfo<never>) => ReportedDetails;
}

/**
 * The categories of states, which determine wording and colors. Each atomic state has exactly one category, either its
 * own or that of a parent. `working` waits for a response, `waiting` for its turn, a slot or a point in time, and
 * `retrying` for another attempt after a failure.
 */
export const STATE_TAGS = CATEGORIES;

export type StateTag = Category;

/** Whether a tag describes a state beyond its category. */
export const isNonCategoryTag = (tag: string): boolean => !STATE_TAGS.some((each) => each === tag);

export const hasEnded = (state: string): boolean => state === 'exited';

/** Prints a state value as a dotted path, such as `launching.creating`. */
export function statePath(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([state, inner]) => `${state}.${statePath(inner)}`)
    .join(' ');
}
