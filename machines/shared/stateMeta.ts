import type { AnyActorRef } from 'xstate';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { CATEGORIES, type Category } from '../../show/category.ts';

/** Since when an actor has been in its present state, in milliseconds since the epoch. */
export type SinceOf = (ref: AnyActorRef) => number;

/** An actor of a machine with this context, as the functions in the meta of its root see it. */
export interface Seen<Context, Tag extends string = string> {
  readonly id: string;
  readonly since: number;
  readonly snapshot: {
    readonly context: Context;
    readonly children: Readonly<Record<string, AnyActorRef | undefined>>;
    hasTag(tag: Tag): boolean;
  };
  readonly sinceOf: SinceOf;
}

/** The moments that `StateMeta.until` can name, in milliseconds since the epoch. */
export type Moments = Readonly<Partial<Record<NonNullable<StateMeta['until']>, number | undefined>>>;

/** What a state says of itself, for people: waiting is always visible. A state without `waitsFor` rests. */
export interface StateMeta {
  /** In words, what must happen for it to go on. */
  readonly waitsFor?: string;
  /** Which moment of the actor ends the wait. */
  readonly until?: 'retryAt' | 'restartAt' | 'stopBy' | 'pullBy' | 'deadline' | 'dueAt';
  /** How long the wait lasts from its beginning, in milliseconds, where it is always the same. */
  readonly afterMs?: number;
  /** Of a machine's root: the moments that are not in its context under their names. */
  readonly moments?: (actor: Seen<never>) => Moments;
  /** Of a machine's root: `waitsFor` with the names that only its actor knows. */
  readonly named?: (waitsFor: string, actor: Seen<never>) => string;
  /** Of a machine's root: what trees of actors show beside its state. */
  readonly facts?: (actor: Seen<never>) => ReportedDetails;
}

/**
 * What each atomic state is, for people and for colours: exactly one of these, the tags of its parents included. `working`
 * has asked and has no answer yet, `waiting` for a turn, a slot or a moment, `retrying` after a failure.
 */
export const STATE_TAGS = CATEGORIES;

export type StateTag = Category;

/** Whether a tag is none of the seven, but what others ask of a state. */
export const isFacet = (tag: string): boolean => !STATE_TAGS.some((each) => each === tag);

/** Whether a container that the runtime shows in this state has no process any more. */
export const hasEnded = (state: string): boolean => state === 'exited';

/** A state's value as one text, dotted from the outside in: `launching.creating`. */
export function statePath(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([state, inner]) => `${state}.${statePath(inner)}`)
    .join(' ');
}
