/**
 * The lines of a recording, each of which is one JSON object. A recording covers one or more lives of an agent, in
 * order. A life consists of segments, each of which starts with a `began` line, and all lines are in the order in which
 * they happened.
 */

import type { RecordedInput } from '../actors/boundary.ts';
import type { Keyframe } from '../actors/node/nodeAgent.ts';
import type { PortCall } from '../actors/portCall.ts';
import type { StateChange } from '../actors/status/sinceMap.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { RecordedEvent } from '../kubernetes/events/recordedEvent.ts';
import type { NodeInput } from '../machines/node/context.ts';

/** Version of the format. Since version 2 a keyframe contains each object once (`repeatedParts.ts`). */
export const FORMAT_VERSION = 2;

/** The header of a segment. It contains everything that a replay needs in order to start there. */
export interface SegmentHeader {
  readonly kind: 'began';
  readonly at: number;
  readonly format: typeof FORMAT_VERSION;
  /** Digest of the state machines. Machines with a different digest may take different transitions. */
  readonly machines: string;
  readonly versions: { readonly statelet: string; readonly node: string };
  /** Identifies the life of the agent. All of its segments have the same value. */
  readonly life: string;
  readonly input: NodeInput;
  /** State of the actors at the start of the segment. Undefined in the first segment of a life. */
  readonly from?: Keyframe;
  /** Number of lines lost just before this one. */
  readonly missed?: number;
  /** Number of members of the same life written before this one. If fewer are present, some have been lost. */
  readonly before?: number;
}

/** A call that was sent through a port, or one that its actor has canceled. */
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

/** The agent stopped. A life without this line was killed or is still running. */
interface EndedLine {
  readonly kind: 'ended';
  readonly at: number;
  /** The UIDs of the pods whose latest status had not been published when the agent stopped. */
  readonly untold?: readonly string[];
  /** Number of lines lost just before this one. */
  readonly missed?: number;
}

export type RecordingLine = SegmentHeader | RecordedInput | CallLine | StateLine | StatusLine | EventLine | EndedLine;
