/** Conditions that must hold after every step of a simulation, and the data that they can access. */
import type { AnyActorRef } from 'xstate';
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { CallFault, OutsideCall } from '../run/gate.ts';
import type { ActionLog } from '../users/actionLog.ts';

/** The simulation as its invariants see it. */
export interface Watched {
  readonly host: SimulatedHost;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster: SimulatedCluster | undefined;
  /** The actions of users and faults of the host so far. */
  readonly actionLog: ActionLog;
  /** The running agent, if there is one. */
  readonly agent: NodeAgent | undefined;
  /** The last published state of a pod. */
  readonly podOf: (uid: string) => Pod | undefined;
  /** The root of the agent's actors. */
  readonly root: AnyActorRef | undefined;
  /** The number of agents so far. */
  readonly agentNumber: number;
  readonly capacity: Capacity;
  /** Maximum restart back-off, in milliseconds. */
  readonly longestBackOffMs: number;
  /** The number of pending timers of the running agent. */
  readonly timers: number;
}

/** The hooks of an invariant, each called when the event happens. */
export interface Hooks {
  /** Called before a call to the outside takes effect. With a fault, the call meets a fault. */
  readonly onCall?: (call: OutsideCall, fault?: CallFault) => void;
  /** A status, or the actors of its pod, have changed. */
  readonly onStatus?: (change: PodChange) => void;
  /** The API server has accepted a status. */
  readonly onReport?: (report: StatusReport) => void;
  readonly onEvent?: EventSink;
  /** An entry has entered the agent's actors. */
  readonly onEntry?: (entry: RecordedInput) => void;
  /** An actor of the agent has processed an event. */
  readonly onTransition?: () => void;
  readonly onAgentStarted?: () => void;
  /** A container or sandbox has changed at the runtime. */
  readonly onEffect?: (effect: RuntimeEffect) => void;
  /** The wall clock is about to be set. */
  readonly beforeJump?: () => void;
  /** Everything that follows from the last event has happened. */
  readonly afterStep?: () => void;
  /** Called for checks of the whole node, at least every hundred steps, more often at the start, and at the end. */
  readonly whole?: () => void;
  /** Called when the node should be at rest, because faults ended long enough ago. */
  readonly atRest?: () => void;
  /** Called after `atRest` if the node is as wanted, so that its memory can be compared. */
  readonly settled?: () => void;
}

/** Called once for each violation. */
type Violated = (message: string) => void;

export interface Invariant {
  /**
   * Identifies an invariant of this package in reports. Invariants of other programs are identified by their sentence.
   */
  readonly number?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;
  readonly description: string;
  readonly follow: (watched: Watched, violated: Violated) => Hooks;
}

/** Returns `invariant 5`, or for an invariant without a number `invariant "One container runs at a time."`. */
export const invariantTitle = ({ number, description = '' }: Pick<Violation, 'number' | 'description'>): string =>
  `invariant ${number ?? JSON.stringify(description)}`;

/** A broken invariant. */
export interface Violation {
  readonly number?: NonNullable<Invariant['number']>;
  /** Sentence of an invariant without a number. */
  readonly description?: string;
  readonly message: string;
  /** The step after which the violation was detected, and the node time in milliseconds. */
  readonly step: number;
  readonly elapsed: number;
}

/** Thrown by the methods that advance a simulation. */
export class InvariantViolated extends Error {
  override readonly name = 'InvariantViolated';
  readonly violation: Violation;

  constructor(violation: Violation) {
    const { message, step, elapsed } = violation;
    super(`${invariantTitle(violation)}, step ${step}, ${elapsed} ms: ${message}`);
    this.violation = violation;
  }
}
