/** The one tree of actors: every machine, feed and call of the running system, as `explain` prints them. */

import type { Failure } from '../base/failure.ts';
import type { Refusal } from '../kubernetes/admission/refusal.ts';
import type { ForeignPod } from '../kubernetes/lifecycle/observed.ts';
import type { TerminatedRun, Termination } from '../kubernetes/status/view.ts';

/** What any actor shows of its state. Times are milliseconds since the epoch. */
export interface ActorView {
  /** The ids from the root to it, without the root's: `pod/<uid>/container/web`. */
  readonly path: string;
  /** The active state, dotted from the outside in: `launching.making.queued`. */
  readonly state: string;
  /** What that state is: one of `steady`, `working`, `waiting`, `retrying`, `done`, `failed`, `broken`, and what else is asked of it. */
  readonly tags: readonly string[];
  readonly since: number;
  /** In words, what it waits for; absent in a state that rests. */
  readonly waitingFor?: string;
  /** The deadline of the wait; absent where there is none. */
  readonly until?: number;
  readonly lastFailure?: Failure;
}

/** What is worth showing of an actor beside its state. */
interface ShownFacts {
  /** Short facts: `ready`, `3 restarts`. */
  readonly facts: readonly string[];
  /** Names under what they have in common: `in line`. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** Of a container: the run that ended last. */
  readonly lastRun?: TerminatedRun;
  /** Of a pod: why the node does not take it. */
  readonly refused?: Refusal;
  /** Of a pod: why it ends; absent where it ends by itself. */
  readonly termination?: Termination;
}

/** What a machine says of its actor beside its state. */
export interface ActorFacts extends Partial<ShownFacts> {
  /** What users call such an actor, and which one it is; absent: its machine's id, and what its own id says. */
  readonly kind?: string;
  readonly name?: string;
  /** What the feeds of the actor have told of themselves, by their sources; a feed may stand for several. */
  readonly feeds?: Readonly<Record<string, readonly FeedView[]>>;
  /** What children wait for, by their ids, where their parent knows more of it than they do. */
  readonly waits?: Readonly<Record<string, string>>;
}

/** A feed as it has told of itself. */
export interface FeedView extends ActorView, Partial<ShownFacts> {
  readonly kind?: string;
  readonly name: string;
}

/** One actor, with those below it. */
export interface ActorNode extends ActorView, ShownFacts {
  readonly id: string;
  /** The machine that it runs; of a feed or a call in flight the port. */
  readonly machine: string;
  readonly kind: string;
  readonly name: string;
  readonly children: readonly ActorNode[];
}

/** The kind of a call in flight: the state of who made it says what it is for. */
export const CALL = 'call';

/** The machine of the parts of the node's own API, which run none. */
export const SERVER = 'server';

/** The container runtime, as its answers show it. */
export interface RuntimeView {
  /** Empty until it has been asked. */
  readonly name: string;
  readonly version: string;
  readonly ready: boolean;
  /** Absent until it has answered, or failed to; in milliseconds since the epoch. */
  readonly since?: number;
  /** Why it is not ready. */
  readonly message?: string;
  /** Why its pods cannot have a network. */
  readonly networkNotReady?: string;
}

/** A limiter of the node that bounds what happens at a time. Its keys are `<pod uid>/<actor>/<limiter>`, one for each request. */
export interface LimiterView {
  readonly capacity: number;
  /** Who has a slot. */
  readonly held: readonly string[];
  /** Those of them that are slow: only who wants something of the same origin still waits for them. */
  readonly slow?: readonly string[];
  /** Who waits for one, the next first. */
  readonly queue: readonly string[];
  /** Of each that waits, what those that it waits for have their slots for, where they say so. */
  readonly behind?: readonly (readonly string[])[];
}

/** The node agent, and the actors that serve all of its pods. */
export interface NodeView {
  readonly tree: ActorNode;
  /** The namespace and name of the pods that have an actor, by uid. */
  readonly pods: Readonly<Record<string, string>>;
  /** How many of them were rejected or have ended. */
  readonly ended: number;
  readonly runtime: RuntimeView;
  readonly foreign: readonly ForeignPod[];
}
