/** What has to hold after every step of a simulation, and what of it an invariant gets to see. */
import type { AnyActorRef } from 'xstate';
import type { Entry } from '../../../actors/boundary.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Deeds } from '../users/deeds.ts';

/** The simulation as its invariants see it. */
export interface Watched {
  readonly host: SimulatedHost;
  /** Absent where the node belongs to none. */
  readonly cluster: SimulatedCluster | undefined;
  /** What was done to the node from outside, and by whom. */
  readonly deeds: Deeds;
  /** The agent that lives; absent between two lives. */
  readonly agent: NodeAgent | undefined;
  /** A pod of it, as it told of it last. */
  readonly podOf: (uid: string) => Pod | undefined;
  /** The root of its actors. */
  readonly root: AnyActorRef | undefined;
  /** Counts the lives. */
  readonly life: number;
  /** What the node has for its pods. */
  readonly capacity: Capacity;
  /** The longest that a container waits after it has crashed, in milliseconds. */
  readonly longestBackOffMs: number;
  /** The timers that the living agent waits for. */
  readonly timers: number;
}

/** What an invariant follows; each is called as it happens. */
export interface Following {
  /** A call is about to be made, and will not come to what was asked for where it has a fate. */
  readonly onCall?: (call: OutsideCall, fate?: Fate) => void;
  /** A status has changed, or the actors of its pod have. */
  readonly onStatus?: (change: PodChange) => void;
  /** The API server has taken a status. */
  readonly onReport?: (report: StatusReport) => void;
  readonly onEvent?: EventSink;
  /** Something has entered the actors of the agent. */
  readonly onEntry?: (entry: Entry) => void;
  /** An actor of the agent has taken an event. */
  readonly onTransition?: () => void;
  readonly onLifeBegan?: () => void;
  /** Something has happened to a container or a sandbox just now. */
  readonly onEffect?: (effect: RuntimeEffect) => void;
  /** The wall clock is about to be set. */
  readonly beforeJump?: () => void;
  /** All that follows from what happened has happened. */
  readonly afterStep?: () => void;
  /** A look at the whole, every hundred steps at least, sooner at the beginning, and at the end. */
  readonly whole?: () => void;
  /** Faults have ended long enough ago: whatever was to come has come. */
  readonly atRest?: () => void;
  /** It has come, and the node is as it is wanted: what it takes up now can be compared. */
  readonly settled?: () => void;
}

/** Told once for each thing that is not as it must be. */
type Violated = (message: string) => void;

export interface Invariant {
  /** Identifies an invariant of this package in reports. Invariants of other programs are identified by what they say. */
  readonly number?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;
  readonly says: string;
  readonly follow: (watched: Watched, violated: Violated) => Following;
}

/** Returns `invariant 5`, or for an invariant without a number `invariant "One container runs at a time."`. */
export const invariantTitle = ({ number, says = '' }: Pick<Violation, 'number' | 'says'>): string =>
  `invariant ${number ?? JSON.stringify(says)}`;

/** What broke an invariant. */
export interface Violation {
  readonly number?: NonNullable<Invariant['number']>;
  /** Sentence of an invariant without a number. */
  readonly says?: string;
  readonly message: string;
  /** The step after which it was seen, and the milliseconds that the simulation had gone on for. */
  readonly step: number;
  readonly elapsed: number;
}

/** Thrown by whoever moves a simulation on. */
export class InvariantViolated extends Error {
  override readonly name = 'InvariantViolated';
  readonly violation: Violation;

  constructor(violation: Violation) {
    const { message, step, elapsed } = violation;
    super(`${invariantTitle(violation)}, step ${step}, ${elapsed} ms: ${message}`);
    this.violation = violation;
  }
}
