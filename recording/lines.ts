/**
 * Defines the lines of a recording, each of which is a JSON object. A recording covers one or more runs of an agent,
 * each from a start of the agent to its exit. A run consists of segments, each of which starts with a `began` line. All
 * lines are in the order in which they were recorded.
 */

import type { RecordedInput } from '../actors/boundary.ts';
import type { Keyframe } from '../actors/node/nodeAgent.ts';
import type { PortCall } from '../actors/portCall.ts';
import type { StateChange } from '../actors/status/sinceMap.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { RecordedEvent } from '../kubernetes/events/recordedEvent.ts';
import type { NodeInput } from '../machines/node/context.ts';

/** Version of the format. Since version 2, a keyframe contains each object only once (`repeatedParts.ts`). */
export const FORMAT_VERSION = 2;

/** The header of a segment, which contains everything that is needed to start a replay at this position. */
export interface SegmentHeader {
  readonly kind: 'began';
  readonly at: number;
  readonly format: typeof FORMAT_VERSION;
  /** Digest of the agent's state machines. Machines with different digests may take different transitions. */
  readonly machines: string;
  readonly versions: { readonly statelet: string; readonly node: string };
  /**
   * Identifies a run of the agent, i.e. the time from a start of the agent to its exit. All segments of a run have the
   * same value.
   */
  readonly life: string;
  readonly input: NodeInput;
  /**
   * State of the actors at the start of the segment. Undefined in the first segment of a run of the agent, because the
   * agent starts without actors.
   */
  readonly from?: Keyframe;
  /** Number of lines lost just before this one. */
  readonly missed?: number;
  /**
   * Number of gzip members written earlier in the same run of the agent, from which a reader can detect lost members.
   */
  readonly before?: number;
}

/** An actor called a port, or canceled such a call. */
type CallLine = { readonly kind: 'asked' } & PortCall;

/** An actor entered a state. */
type StateLine = { readonly kind: 'state' } & StateChange;

/** A pod's status was published. */
export interface StatusLine {
  readonly kind: 'status';
  readonly at: number;
  readonly uid: string;
  /** The pod's namespace and name, as `NAMESPACE/NAME`. */
  readonly pod: string;
  /** The published status. Undefined if the pod was removed. */
  readonly status?: PodStatus;
}

/** An event that a machine published. */
export type EventLine = { readonly kind: 'event'; readonly at: number } & Omit<RecordedEvent, 'type'>;

/** The agent stopped. If the last line of a run has a different kind, the agent was killed or is still running. */
interface EndedLine {
  readonly kind: 'ended';
  readonly at: number;
  /** The UIDs of the pods whose most recent status had not been published when the agent stopped. */
  readonly untold?: readonly string[];
  /** Number of lines lost just before this one. */
  readonly missed?: number;
}

export type RecordingLine = SegmentHeader | RecordedInput | CallLine | StateLine | StatusLine | EventLine | EndedLine;
