/**
 * Defines the JSON protocol between `inspect/` and `web/`. All times are milliseconds since the epoch. An actor is
 * identified by its path, which consists of its own id and those of its ancestors.
 */
import type { ActorNode } from '../show/actors/actorNode.ts';
import type { NextTransition } from '../show/explain/nextTransition.ts';

export type { NextTransition as NextWay } from '../show/explain/nextTransition.ts';

/** An actor without its children. The tree is represented by `parent` and by `order` among the parent's children. */
export interface ShownActor extends Omit<ActorNode, 'children'> {
  /** Path of the parent. Undefined for the root, whose path is empty. */
  readonly parent?: string;
  readonly order: number;
}

/** A pod in the table. */
export interface ShownPod {
  readonly uid: string;
  readonly namespace: string;
  /** The full name. For a static pod, it ends with `-<node name>`. */
  readonly name: string;
  readonly isStatic: boolean;
  readonly phase: string;
  /** The value of kubectl's STATUS column. */
  readonly status: string;
  /** The value of kubectl's READY column, e.g. `1/2`. */
  readonly ready: string;
  readonly restarts: number;
}

/** A limiter of the node, which bounds concurrent starts or pulls. */
export interface ShownGate {
  readonly capacity: number;
  readonly held: number;
  readonly waiting: number;
  /** The waiting actors in queue order, as `<pod uid>/<actor>/<limiter>`. */
  readonly queue: readonly string[];
}

/** The state of the node, for the bar at the top of the page. */
export interface ShownNode {
  readonly name: string;
  readonly version: string;
  readonly simulated: boolean;
  readonly state: string;
  readonly tags: readonly string[];
  readonly runtime: {
    readonly name: string;
    readonly version: string;
    readonly ready: boolean;
    readonly message?: string;
  };
  /** A problem with the node, in one sentence. Undefined if there is none. */
  readonly trouble?: string;
  readonly gates: { readonly start: ShownGate; readonly pull: ShownGate };
  /** The sources of pods, with their problems. */
  readonly sources: readonly { readonly name: string; readonly trouble?: string }[];
  /** Event loop delay over the last minute. Undefined if it is not measured. */
  readonly loop?: { readonly p99Ms: number; readonly recentMs: readonly number[] };
}

/** The state of the node and its pods at one point in time. */
export interface Snapshot {
  readonly at: number;
  /**
   * `live` is the current state, which frames will update. `past` is a past state of a running node. `file` is a state
   * from a recording without a running node.
   */
  readonly mode: 'live' | 'past' | 'file';
  readonly node: ShownNode;
  readonly pods: readonly ShownPod[];
  readonly actors: readonly ShownActor[];
  /** The time range of the recording. Undefined if nothing is recorded. */
  readonly recorded?: { readonly from: number; readonly to: number };
}

/** The changes since the previous frame. The first frame contains the changes since the snapshot. */
export interface Frame {
  readonly at: number;
  readonly node?: ShownNode;
  readonly pods: readonly ShownPod[];
  readonly podsGone: readonly string[];
  readonly actors: readonly ShownActor[];
  readonly actorsGone: readonly string[];
  readonly lines: readonly StoryLine[];
  /** Number of lines omitted because there were too many. */
  readonly unsaid?: number;
  /** The time range of the recording, if its start has changed or was unknown before. */
  readonly recorded?: Snapshot['recorded'];
}

/** One event in the history of the node, without any payload. */
export type StoryLine =
  | EnteredLine
  | {
      readonly kind: 'asked';
      readonly at: number;
      readonly actor: string;
      readonly port: string;
      readonly about: string;
    }
  | {
      readonly kind: 'state';
      readonly at: number;
      readonly actor: string;
      readonly state: string;
      readonly tag?: string;
    }
  | {
      readonly kind: 'event';
      readonly at: number;
      readonly uid: string;
      readonly container?: string;
      readonly eventType: string;
      readonly reason: string;
      readonly message: string;
    }
  /**
   * The pod was removed from the node. Later lines with its UID are about a new pod, e.g. a static pod that has been
   * recreated.
   */
  | { readonly kind: 'gone'; readonly at: number; readonly uid: string }
  /** An agent started. */
  | { readonly kind: 'began'; readonly at: number }
  /** The agent stopped cleanly, i.e. it was not killed. */
  | { readonly kind: 'ended'; readonly at: number };

/** An input of an actor: a fact from a feed, the response to a call, or a timer. */
export interface EnteredLine {
  readonly kind: 'entered';
  readonly at: number;
  /**
   * Path of the actor. For a response, it is the path of the invoked call, e.g.
   * `pod/<uid>/container/web/0.container.creating`.
   */
  readonly actor: string;
  readonly outcome: 'answer' | 'failure' | 'fact' | 'elapsed';
  /** Name of the port or feed that the input comes from. */
  readonly source: string;
  /** Duration of the call if the input is a response to one. */
  readonly tookMs?: number;
  /** UID of the pod that a fact from a feed is about. Undefined if the fact is about no pod or about several pods. */
  readonly uid?: string;
  /** Short description of the input, e.g. `api exit 3`, or the reason for a failure. */
  readonly what?: string;
}

/** The history of one pod, or of the node itself, in chronological order. */
export interface Story {
  readonly from: number;
  readonly to: number;
  /** The states of the pod's or the node's actors at `from`. */
  readonly before: readonly {
    readonly actor: string;
    readonly state: string;
    readonly since: number;
    readonly tag?: string;
  }[];
  readonly lines: readonly StoryLine[];
  /** Number of lines omitted because there were too many. */
  readonly unsaid?: number;
}

/** Overview of a recording as a histogram over time. */
export interface Rail {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /** Number of inputs in each bucket. */
  readonly counts: readonly number[];
  readonly failures: readonly number[];
  /** Times at which agents started. */
  readonly restarts: readonly number[];
}

/** A completed run of a container. */
export interface TriedRun {
  /** Number of the run, starting at 1. */
  readonly run: number;
  readonly startedAt: number;
  readonly ranMs: number;
  readonly exitCode: number;
  readonly reason: string;
  /** Time until the next run started. Undefined if no later run has started. */
  readonly waitedMs?: number;
}

export interface TakenTransitions {
  /** Start of the period that the counts cover. */
  readonly from: number;
  /** The transitions, identified by `transitionId`. */
  readonly ways: readonly { readonly way: string; readonly count: number; readonly lastAt: number }[];
  /** Time spent in each state during its last completed visit, keyed by the state's dotted path. */
  readonly stays: readonly { readonly state: string; readonly lastMs: number }[];
}

export interface ShownEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Number of occurrences. Undefined if some of them occurred in a previous pod with the same UID. */
  readonly count?: number;
  readonly at: number;
}

/**
 * The details of an actor that are available immediately. The actor's history is requested separately, because it has
 * to be read from the recording.
 */
export interface ActorDetail {
  readonly path: string;
  readonly at: number;
  /** Explains the actor's state in one sentence. */
  readonly answer: string;
  /** Problems in the manifest of the actor's pod. */
  readonly problems: readonly string[];
  readonly next: readonly NextTransition[];
  /**
   * Sentences that describe the pods that would be evicted next. Undefined for past states, and for all actors except
   * the actor that evicts pods.
   */
  readonly nextEvictions?: readonly string[];
  /** Recent Kubernetes events. Undefined for a past state, whose events are part of the actor's history. */
  readonly events?: readonly ShownEvent[];
  /** The last lines of the container's log. */
  readonly log?: { readonly lines: readonly string[] };
}

/** The last lines of a container's log. */
export interface ShownLog {
  /** Number of the run that wrote the log, starting at 1. Undefined if there is no log. */
  readonly run?: number;
  /** Whether the run is still in progress, so that more lines may follow. */
  readonly isRunning: boolean;
  readonly lines: readonly string[];
  /** Whether earlier lines were omitted. */
  readonly isCut?: boolean;
  /** The reason why there is no log. */
  readonly note?: string;
}

/** The transitions and container runs of one actor. */
export interface ActorHistory {
  readonly path: string;
  readonly at: number;
  readonly tried: readonly TriedRun[];
  readonly taken: TakenTransitions;
  /** Kubernetes events of the pod. Undefined for the current state, because its details contain the events. */
  readonly events?: readonly ShownEvent[];
}

/** A pod's manifest and status. Secret values are replaced by placeholders that match `HELD_BACK`. */
export interface ShownObject {
  readonly manifest: unknown;
  readonly status: unknown;
}

/** The payload of an actor's input. */
export interface ShownPayload {
  readonly value: unknown;
  /** Number of fields and items that were omitted. */
  readonly heldBack: number;
}

/** Matches the placeholders of secret values in a string. The page highlights these placeholders. */
export const HELD_BACK = /redacted-[0-9a-f]{16}/g;

/** One state in a drawing. `x` and `y` are its top left corner in CSS pixels. */
export interface DrawnState {
  /**
   * Dotted path without the machine's id, e.g. `launching.creatingContainer.creating`. Empty for a machine without
   * states.
   */
  readonly state: string;
  readonly label: string;
  readonly kind: 'atomic' | 'compound' | 'final' | 'folded';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly tag?: string;
  readonly waitsFor?: string;
  /** Describes the state for users who do not know the chart. */
  readonly description?: string;
  /** Numbers of the Kubernetes rules that the state implements, e.g. `C7`. */
  readonly rules?: readonly string[];
  /** The states that a folded box represents. */
  readonly foldedStates?: readonly FoldedState[];
}

/** A state that shares its box with other states. */
export type FoldedState = Pick<DrawnState, 'state' | 'label' | 'tag' | 'waitsFor' | 'description' | 'rules'>;

/** A rule of Kubernetes from docs/conformance.md. */
export interface ShownRule {
  /** Number of the rule, e.g. `C7`. */
  readonly rule: string;
  readonly title: string;
  readonly text: string;
}

/** An arrow from one state to another, which represents all transitions between them. */
export interface DrawnTransition {
  /** The transitions, identified by `transitionId`. */
  readonly ways: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly points: readonly (readonly [number, number])[];
  /** The distinct events that trigger the transitions. Empty for an eventless transition. */
  readonly label: readonly string[];
  /** The top left corner of the label. Undefined if there is no room for the label. */
  readonly labelAt?: readonly [number, number];
  /** The center of the count on the arrow. Undefined if there is no room for the count. */
  readonly countAt?: readonly [number, number];
}

/** The layout of a chart or of one region of it. */
export interface Drawing {
  readonly machine: string;
  /** Undefined for the whole chart. */
  readonly region?: string;
  readonly title: string;
  /** Describes the machine in one sentence. */
  readonly summary: string;
  readonly width: number;
  readonly height: number;
  readonly states: readonly DrawnState[];
  readonly ways: readonly DrawnTransition[];
  /** Transitions that leave the region or apply to all states, e.g. `container.stop → stopped`. */
  readonly exits: readonly {
    readonly way: string;
    readonly from: string;
    readonly label: string;
    readonly to: string;
  }[];
  /** The regions of the machine. Empty if the whole chart fits on the page. */
  readonly regions: readonly { readonly region: string; readonly title: string; readonly states: readonly string[] }[];
  /** The rules that the states refer to. */
  readonly rules: readonly ShownRule[];
  /** Number of states in the whole machine. */
  readonly statesOfAll: number;
}
