/** The one tree of actors: every machine, feed and call of the running system, as `explain` prints them. */
import type { ForeignPod } from '../lifecycle/observed.ts';
import type { ActorView, RuntimeView } from './view.ts';

/** What there is to see of an actor beside its state. */
export interface ActorFacts {
  /** What users call such an actor, and which one it is; absent: as its id says. */
  readonly kind?: string;
  readonly name?: string;
  /** Short facts: `ready`, `3 restarts`. */
  readonly facts?: readonly string[];
  /** Names under what they have in common: `in line`. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** What the feeds of the actor have told of themselves, by their sources; a feed may stand for several. */
  readonly feeds?: Readonly<Record<string, readonly FeedView[]>>;
}

/** A feed as it has told of itself. */
export interface FeedView extends ActorView, Omit<ActorFacts, 'feeds'> {
  readonly name: string;
}

/** One actor, with those below it. */
export interface ActorNode extends ActorView {
  readonly id: string;
  /** The machine that it runs; of a feed or a call in flight the port. */
  readonly machine: string;
  readonly kind: string;
  readonly name: string;
  readonly facts: readonly string[];
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly children: readonly ActorNode[];
}

/** The kind of a call in flight: the state of who made it says what it is for. */
export const CALL = 'call';

/** The node agent, and the actors that serve all of its pods. */
export interface NodeView {
  readonly tree: ActorNode;
  /** The namespace and name of the pods that have an actor, by uid. */
  readonly pods: Readonly<Record<string, string>>;
  readonly runtime: RuntimeView;
  readonly foreign: readonly ForeignPod[];
}
