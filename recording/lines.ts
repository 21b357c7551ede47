/**
 * The lines of a recording, each one JSON object. A recording is of one life of an agent or of several, one after the
 * other: each begins with `began`, and everything after it is in the order in which it happened.
 */
import type { Asked } from '../actors/asked.ts';
import type { Entry } from '../actors/boundary.ts';
import type { Keyframe } from '../actors/nodeAgent.ts';
import type { Move } from '../actors/status/since.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { RecordedEvent } from '../kubernetes/events/recordedEvent.ts';
import type { NodeInput } from '../machines/node/context.ts';

/** The version of this format. Since version 2 a keyframe has each object once (`repeatedParts.ts`). */
export const FORMAT = 2;

/** What a segment begins with: all that a replay needs that begins with it. */
export interface Began {
  readonly kind: 'began';
  readonly at: number;
  readonly format: typeof FORMAT;
  /** The digest of the machines: others do not take the same ways. */
  readonly machines: string;
  /** The versions of statelet and of Node.js. */
  readonly versions: { readonly statelet: string; readonly node: string };
  /** The same in all segments of one life of an agent. */
  readonly life: string;
  readonly input: NodeInput;
  /** What the actors were when the segment began; absent where the life began with it. */
  readonly from?: Keyframe;
  /** So many lines had to be left out just before it. */
  readonly missed?: number;
  /** So many members of its life were written before it: where fewer are there, something has been lost. */
  readonly before?: number;
}

/** One that went out through a port, or that its actor waits for no more. */
type CallLine = { readonly kind: 'asked' } & Asked;

/** An actor came into a state. */
type MoveLine = { readonly kind: 'state' } & Move;

/** What was told of a pod. */
export interface StatusLine {
  readonly kind: 'status';
  readonly at: number;
  readonly uid: string;
  /** Its namespace and name. */
  readonly pod: string;
  /** Absent where the pod is gone. */
  readonly status?: PodStatus;
}

/** An event as a machine told it. */
export type EventLine = { readonly kind: 'event'; readonly at: number } & Omit<RecordedEvent, 'type'>;

/** The agent was stopped; a life that has no such end was killed, or goes on. */
interface Ended {
  readonly kind: 'ended';
  readonly at: number;
  /** The pods of which more was known than had been told when it was stopped, by uid. */
  readonly untold?: readonly string[];
  /** So many lines had to be left out just before it. */
  readonly missed?: number;
}

export type Line = Began | Entry | CallLine | MoveLine | StatusLine | EventLine | Ended;
