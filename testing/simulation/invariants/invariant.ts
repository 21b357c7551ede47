/** Conditions that must hold after every step of a simulation, and the data that they can access. */
import type { AnyActorRef } from 'xstate';
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeAgentConfig } from '../../../actors/node/nodeAgentConfig.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { CallFault, OutsideCall } from '../run/gate.ts';
import type { ActionLog } from '../users/actionLog.ts';

/** The view of a simulation that its invariants can access. */
export interface Watched {
  readonly host: SimulatedHost;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster: SimulatedCluster | undefined;
  /** Log of the actions of users and the faults of the host so far. */
  readonly actionLog: ActionLog;
  /** The running agent. Undefined if none is running. */
  readonly agent: NodeAgent | undefined;
  /** Returns the last published state of a pod by its UID. */
  readonly podOf: (uid: string) => Pod | undefined;
  /** Root actor of the running agent. */
  readonly root: AnyActorRef | undefined;
  /** Number of agents that have been started so far. */
  readonly agentNumber: number;
  readonly capacity: Capacity;
  readonly managers: Pick<NodeAgentConfig, 'cpuManager' | 'topologyManager'>;
  /** Maximum restart back-off, in milliseconds. */
  readonly longestBackOffMs: number;
  /** Number of pending timers of the running agent. */
  readonly timers: number;
}

/** Hooks of an invariant, each called when its event happens. */
export interface Hooks {
  /** Called before a call to the outside takes effect. `fault` is the injected fault, if any. */
  readonly onCall?: (call: OutsideCall, fault?: CallFault) => void;
  /** Called when a status, or the actors of its pod, have changed. */
  readonly onStatus?: (change: PodChange) => void;
  /** Called when the API server has accepted a status. */
  readonly onReport?: (report: StatusReport) => void;
  readonly onEvent?: EventSink;
  /** Called when an input entry has been delivered to the agent's actors. */
  readonly onEntry?: (entry: RecordedInput) => void;
  /** Called when an actor of the agent has processed an event. */
  readonly onTransition?: () => void;
  readonly onAgentStarted?: () => void;
  /** Called when a container or sandbox has changed at the runtime. */
  readonly onEffect?: (effect: RuntimeEffect) => void;
  /** Called before the wall clock is set. */
  readonly beforeJump?: () => void;
  /** Called when everything that follows from the last event has happened. */
  readonly afterStep?: () => void;
  /** Called for checks of the whole node, at least every hundred steps, more often after the start, and at the end. */
  readonly whole?: () => void;
  /** Called when the node should be at rest, because faults ended long enough ago. */
  readonly atRest?: () => void;
  /** Called after `atRest` if the node is in the wanted state, so that its memory use can be compared. */
  readonly settled?: () => void;
}

/** Reports one violation. */
type Violated = (message: string) => void;

export interface Invariant {
  /**
   * Identifies an invariant of this package in reports. Invariants of other programs are identified by their
   * description.
   */
  readonly number?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;
  readonly description: string;
  readonly follow: (watched: Watched, violated: Violated) => Hooks;
}

/** Returns `invariant 5`, or for an invariant without a number `invariant "One container runs at a time."`. */
export const invariantTitle = ({ number, description = '' }: Pick<Violation, 'number' | 'description'>): string =>
  `invariant ${number ?? JSON.stringify(description)}`;

/** A detected violation of an invariant. */
export interface Violation {
  readonly number?: NonNullable<Invariant['number']>;
  /** Description of the invariant. Undefined if the invariant has a number. */
  readonly description?: string;
  readonly message: string;
  /** The step after which the violation was detected, and the node time in milliseconds. */
  readonly step: number;
  readonly elapsed: number;
}

/** Thrown by the methods that advance a simulation when an invariant is violated. */
export class InvariantViolated extends Error {
  override readonly name = 'InvariantViolated';
  readonly violation: Violation;

  constructor(violation: Violation) {
    const { message, step, elapsed } = violation;
    super(`${invariantTitle(violation)}, step ${step}, ${elapsed} ms: ${message}`);
    this.violation = violation;
  }
}
