/**
 * The tree of all actors of the running system, i.e. state machines, event feeds and calls in flight, as printed by
 * `explain`.
 */

import type { Failure } from '../../base/failure.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import type { ForeignPod } from '../../kubernetes/lifecycle/observed.ts';
import type { TerminatedRun, Termination } from '../../kubernetes/status/view.ts';

/** The state of an actor. Times are in milliseconds since the epoch. */
export interface ActorView {
  /** The IDs from the root to the actor, without the root's ID, e.g. `pod/<uid>/container/web`. */
  readonly path: string;
  /** The active state with its parents, outermost first, separated by dots: `launching.creatingContainer.queued`. */
  readonly state: string;
  /**
   * Tags of the state. Exactly one of them is a category: `steady`, `working`, `waiting`, `retrying`, `done`, `failed`
   * or `broken`.
   */
  readonly tags: readonly string[];
  readonly since: number;
  /** Description of the event or condition that the actor is waiting for. Undefined in a state that does not wait. */
  readonly waitingFor?: string;
  /** The deadline of the wait. Undefined if there is none. */
  readonly until?: number;
  readonly lastFailure?: Failure;
}

/** Details of an actor beyond its state. */
interface ActorDetails {
  /** Short phrases such as `ready` or `3 restarts`. */
  readonly facts: readonly string[];
  /** Lists of names by heading, e.g. `queued`. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The last completed run. Only containers have one. */
  readonly lastRun?: TerminatedRun;
  /** Reason why the node rejects the pod. Only pods have one. */
  readonly refused?: Refusal;
  /** Reason why the pod is being terminated. Undefined for a pod that completes on its own. */
  readonly termination?: Termination;
}

/** The details that a machine reports for its actor beyond its state. */
export interface ReportedDetails extends Partial<ActorDetails> {
  /** The kind shown to users. Defaults to the id of the machine. */
  readonly kind?: string;
  /** The name shown to users. Defaults to the last part of the actor's id. */
  readonly name?: string;
  /** Views that the actor's feeds report, keyed by source. A single feed may report several views. */
  readonly feedViews?: Readonly<Record<string, readonly FeedView[]>>;
  /**
   * Descriptions of what children are waiting for, keyed by child id. Set if the parent can describe the wait better
   * than the child.
   */
  readonly waitDescriptions?: Readonly<Record<string, string>>;
}

/** State of a feed, as reported by the feed itself. */
export interface FeedView extends ActorView, Partial<ActorDetails> {
  readonly kind?: string;
  readonly name: string;
}

/** An actor with all of its descendants. */
export interface ActorNode extends ActorView, ActorDetails {
  readonly id: string;
  /** The id of the actor's state machine, or the name of the port for a feed or a call in flight. */
  readonly machine: string;
  readonly kind: string;
  readonly name: string;
  readonly children: readonly ActorNode[];
}

/**
 * The kind of an entry that represents a call in flight. Most views omit these entries, because the state of the
 * calling actor already describes the call.
 */
export const CALL_KIND = 'call';

/** The value of `machine` for the entries of the node's own API, which has no state machine. */
export const NODE_API_ID = 'server';

/** The container runtime as described by its responses. */
export interface RuntimeView {
  /** Name of the runtime. Empty until the runtime has responded. */
  readonly name: string;
  readonly version: string;
  readonly ready: boolean;
  /**
   * Time at which the runtime entered its current state, in milliseconds since the epoch. Undefined until the first
   * response or failure.
   */
  readonly since?: number;
  /** Reason why the runtime is not ready. */
  readonly message?: string;
  /** Reason why the runtime's network is not ready. */
  readonly networkNotReady?: string;
}

/**
 * A limiter of concurrent operations on the node. Each request to the limiter is identified by a key `<pod
 * uid>/<actor>/<limiter>`.
 */
export interface LimiterView {
  readonly capacity: number;
  /** Keys of the requests that occupy a slot. */
  readonly held: readonly string[];
  /**
   * The keys in `held` whose requests are slow. A slow request blocks only requests of the same origin, e.g. pulls from
   * the same registry.
   */
  readonly slow?: readonly string[];
  /** Keys of the waiting requests, the next one first. */
  readonly queue: readonly string[];
  /**
   * For each waiting request, the purposes of the requests that it waits for. Undefined if requests do not report a
   * purpose.
   */
  readonly behind?: readonly (readonly string[])[];
}

/** The node agent and the actors that serve all of its pods. */
export interface NodeView {
  readonly tree: ActorNode;
  /** Namespace and name of each pod that has an actor, keyed by UID. */
  readonly pods: Readonly<Record<string, string>>;
  /** The number of pods in `pods` that were rejected or have terminated. */
  readonly ended: number;
  readonly runtime: RuntimeView;
  readonly foreign: readonly ForeignPod[];
}
