/**
 * What the page asks for and what it is told, as plain JSON: the one vocabulary of `inspect/` and `web/`. Times are
 * milliseconds since the epoch, actors go by their path of ids.
 */
import type { ActorNode } from '../show/actorNode.ts';
import type { NextTransition } from '../show/nextTransition.ts';

export type { NextTransition as NextWay } from '../show/nextTransition.ts';

/** One actor without those below it: its parent and its place among the parent's children stand for them. */
export interface ShownActor extends Omit<ActorNode, 'children'> {
  /** The parent's path; absent: it is the root, whose own path is empty. */
  readonly parent?: string;
  readonly order: number;
}

/** A pod as a table shows it. */
export interface ShownPod {
  readonly uid: string;
  readonly namespace: string;
  /** The full one; of a static pod it ends in `-` and the node's name. */
  readonly name: string;
  readonly isStatic: boolean;
  readonly phase: string;
  /** The words of kubectl's columns STATUS and READY. */
  readonly status: string;
  readonly ready: string;
  readonly restarts: number;
}

/** A limiter of the node. */
export interface ShownGate {
  readonly capacity: number;
  readonly held: number;
  readonly waiting: number;
  /** Who waits, the next first: `<pod uid>/<actor>/<limiter>`. */
  readonly queue: readonly string[];
}

/** The node itself: the bar above everything. */
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
  /** One sentence, where something of the node itself is in the way. */
  readonly trouble?: string;
  readonly gates: { readonly start: ShownGate; readonly pull: ShownGate };
  /** Where pods come from, and what is wrong there. */
  readonly sources: readonly { readonly name: string; readonly trouble?: string }[];
  /** How late the event loop was, over the last minute; absent where it is not measured. */
  readonly loop?: { readonly p99Ms: number; readonly recentMs: readonly number[] };
}

/** The whole node at one moment. */
export interface Snapshot {
  readonly at: number;
  /** `live` goes on by frames; `past` is a moment of a node that goes on; `file` one of a recording alone. */
  readonly mode: 'live' | 'past' | 'file';
  readonly node: ShownNode;
  readonly pods: readonly ShownPod[];
  readonly actors: readonly ShownActor[];
  /** What can be gone back to; absent where nothing is recorded. */
  readonly recorded?: { readonly from: number; readonly to: number };
}

/** What is another than in the frame before. */
export interface Frame {
  readonly at: number;
  readonly node?: ShownNode;
  readonly pods: readonly ShownPod[];
  readonly podsGone: readonly string[];
  readonly actors: readonly ShownActor[];
  readonly actorsGone: readonly string[];
  readonly lines: readonly StoryLine[];
  /** So many lines were left out, because there were too many. */
  readonly unsaid?: number;
  /** What can be gone back to, where its beginning has changed or was not known before. */
  readonly recorded?: Snapshot['recorded'];
}

/** One thing that happened. Payloads stay behind. */
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
  /** The pod is gone from the node. Later lines with its UID are about its next life, as of a static pod that is created again. */
  | { readonly kind: 'gone'; readonly at: number; readonly uid: string }
  /** An agent's life begins. */
  | { readonly kind: 'began'; readonly at: number }
  /** It ends in good order. */
  | { readonly kind: 'ended'; readonly at: number };

/** What came in from outside: a fact of a feed, the answer of a call, a timer. */
export interface EnteredLine {
  readonly kind: 'entered';
  readonly at: number;
  /** Whom it entered: of a call the one in flight, `pod/<uid>/container/web/0.container.creating`. */
  readonly actor: string;
  readonly outcome: 'answer' | 'failure' | 'fact' | 'elapsed';
  /** The port or feed. */
  readonly source: string;
  /** How long a call took. */
  readonly tookMs?: number;
  /** Of a fact about one pod: which. */
  readonly uid?: string;
  /** In a few words: `api exit 3`, why it failed. */
  readonly what?: string;
}

/** What happened to one pod, or to the node itself, the earliest first. */
export interface Story {
  readonly from: number;
  readonly to: number;
  /** The states that its actors were in when it began. */
  readonly before: readonly {
    readonly actor: string;
    readonly state: string;
    readonly since: number;
    readonly tag?: string;
  }[];
  readonly lines: readonly StoryLine[];
  /** So many lines were left out, because there were too many. */
  readonly unsaid?: number;
}

/** All of a recording at a glance. */
export interface Rail {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /** How much entered in each bucket. */
  readonly counts: readonly number[];
  readonly failures: readonly number[];
  /** When agents began. */
  readonly restarts: readonly number[];
}

/** A run of a container that has ended. */
export interface TriedRun {
  /** 1 is the first one that there ever was. */
  readonly run: number;
  readonly startedAt: number;
  readonly ranMs: number;
  readonly exitCode: number;
  readonly reason: string;
  /** How long it waited before the next one; absent of the last. */
  readonly waitedMs?: number;
}

/** What is known of how one actor moved. */
export interface Taken {
  /** Since when it is known. */
  readonly from: number;
  /** The ways that were taken, as `wayId` names them. */
  readonly ways: readonly { readonly way: string; readonly count: number; readonly lastAt: number }[];
  /** How long it was last in each state, by its dotted path; absent from the one that it is in. */
  readonly stays: readonly { readonly state: string; readonly lastMs: number }[];
}

/** An event of Kubernetes. */
export interface ShownEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Number of occurrences; absent if some of them belong to an earlier life of the pod. */
  readonly count?: number;
  readonly at: number;
}

/** The part of an actor's details that is known at once. Its history is read from the recording and follows later. */
export interface Detail {
  readonly path: string;
  readonly at: number;
  /** One sentence: why it is where it is. */
  readonly answer: string;
  /** What has to be seen to in its pod's manifest. */
  readonly problems: readonly string[];
  readonly next: readonly NextTransition[];
  /** Absent of a moment of the past, whose events are read with the history. */
  readonly events?: readonly ShownEvent[];
  /** How the log of a container ends. */
  readonly log?: { readonly lines: readonly string[] };
}

/** The end of the log of a container. */
export interface ShownLog {
  /** Number of the run that wrote it, the first being 1; absent if there is no log. */
  readonly run?: number;
  /** Whether this run goes on, and may write more. */
  readonly isRunning: boolean;
  readonly lines: readonly string[];
  /** Whether there are earlier lines, which are not sent. */
  readonly isCut?: boolean;
  /** Why there is no log. */
  readonly note?: string;
}

/** The history of one actor: how it came to be where it is. */
export interface ActorHistory {
  readonly path: string;
  readonly at: number;
  readonly tried: readonly TriedRun[];
  readonly taken: Taken;
  /** Absent of a node that goes on, whose details have them. */
  readonly events?: readonly ShownEvent[];
}

/** A pod's manifest and status as far as they may be seen: in place of what may not stands a digest, as `HELD_BACK` finds it. */
export interface ShownObject {
  readonly manifest: unknown;
  readonly status: unknown;
}

/** What something that entered brought with it. */
export interface ShownPayload {
  readonly value: unknown;
  /** So many fields and items of it are held back. */
  readonly heldBack: number;
}

/** What stands for a value that is held back, in any text: to be shown as such. */
export const HELD_BACK = /redacted-[0-9a-f]{16}/g;

/** One state in a drawing; `x` and `y` of its top left corner, in CSS pixels. */
export interface DrawnState {
  /** Dotted, without the machine's id: `launching.making.creating`; empty for none. */
  readonly state: string;
  readonly label: string;
  readonly kind: 'atomic' | 'compound' | 'final' | 'folded';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly tag?: string;
  readonly waitsFor?: string;
  /** What it is, for somebody who did not write the chart. */
  readonly meaning?: string;
  /** The rules of Kubernetes that it follows, by their numbers. */
  readonly rules?: readonly string[];
  /** Of a folded one: the states that it stands for. */
  readonly holds?: readonly FoldedState[];
}

/** A state that shares a box with others. */
export type FoldedState = Pick<DrawnState, 'state' | 'label' | 'tag' | 'waitsFor' | 'meaning' | 'rules'>;

/** A rule of Kubernetes, as docs/conformance.md has it. */
export interface ShownRule {
  /** `C7`. */
  readonly rule: string;
  readonly title: string;
  readonly text: string;
}

/** An arrow; all ways between the same two states share one. */
export interface DrawnWay {
  /** As `wayId` names them. */
  readonly ways: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly points: readonly (readonly [number, number])[];
  /** The events of its ways, each once. Empty for a way that is taken at once. */
  readonly label: readonly string[];
  /** The top left corner of its label; absent where there is no room for it. */
  readonly labelAt?: readonly [number, number];
  /** The middle of its count, on the arrow; absent where there is no room for it. */
  readonly countAt?: readonly [number, number];
}

/** A chart, or one region of it, laid out. */
export interface Drawing {
  readonly machine: string;
  /** Absent: the whole of it. */
  readonly region?: string;
  readonly title: string;
  /** What the machine is, in one sentence. */
  readonly summary: string;
  readonly width: number;
  readonly height: number;
  readonly states: readonly DrawnState[];
  readonly ways: readonly DrawnWay[];
  /** Ways that lead out of the region, and those that every state takes: `container.stop → stopped`. */
  readonly exits: readonly {
    readonly way: string;
    readonly from: string;
    readonly label: string;
    readonly to: string;
  }[];
  /** The regions of the machine; none of one that is seen at a glance. */
  readonly regions: readonly { readonly region: string; readonly title: string; readonly states: readonly string[] }[];
  /** The rules that its states name. */
  readonly rules: readonly ShownRule[];
  /** How many states the whole machine has. */
  readonly statesOfAll: number;
}
