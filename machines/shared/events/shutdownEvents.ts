/** Defines the events between logind, the shutdown machine and the node. */
import type { Failure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ShutdownGroup } from '../../../kubernetes/shutdown/periods.ts';
import type { TerminationReport } from './evictionEvents.ts';
import type { TimerEvent } from './slots.ts';

/** Facts from logind. Times are in milliseconds since the epoch. */
export type LogindFact =
  /** The node has subscribed to logind's shutdown signals. */
  | { type: 'logind.watched'; at: number }
  /** The node holds an inhibitor lock, which delays a shutdown. */
  | { type: 'logind.locked'; at: number }
  /** The host is about to shut down, or a shutdown has been cancelled. */
  | { type: 'logind.shutdownChanged'; isShuttingDown: boolean; at: number };

/** Requests and reports that the shutdown machine sends to the node. */
export type ShutdownReport =
  | { type: 'shutdown.changed'; isShuttingDown: boolean; at: number }
  | { type: 'shutdown.podsRequested' }
  | { type: 'shutdown.groupChosen'; group: ShutdownGroup; at: number };

export type ShutdownEvent =
  | LogindFact
  /** The pods that may have running processes. */
  | { type: 'shutdown.podsListed'; pods: readonly Pod[] }
  | TerminationReport
  /** A feed of logind has stopped. */
  | { type: 'feed.ended'; feed: string; failure?: Failure; at: number }
  | TimerEvent;
