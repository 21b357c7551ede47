/** What passes between the node and those that see to its garbage and its logs. */
import type { DeadContainer } from '../../kubernetes/lifecycle/garbage.ts';
import type { ContainerRun, ForeignPod, LeftPod } from '../../kubernetes/lifecycle/observed.ts';
import type { TimerEvent } from './slots.ts';

/** What the node knows that its garbage collection goes by. */
export interface GarbageFound {
  readonly containers: readonly DeadContainer[];
  /** Ids. */
  readonly sandboxes: readonly string[];
  /** The uids of the pods that have an actor. */
  readonly known: readonly string[];
  /** The pods of others that have a directory here, as the last survey of the disk left them. */
  readonly foreign: readonly ForeignPod[];
}

/** What the garbage collection asks and tells its node. */
export type GarbageReport =
  | { type: 'garbage.asked' }
  /** These have files here, and no actor: what this agent left must end, what is of others is all there is of them. */
  | { type: 'garbage.podsFound'; left: readonly LeftPod[]; foreign: readonly ForeignPod[]; gone: readonly string[] };

export type GarbageEvent = { type: 'garbage.found'; found: GarbageFound } | TimerEvent;

/** What the log rotation asks its node. */
export type LogsReport = { type: 'logs.asked' };

export type LogsEvent = { type: 'logs.found'; logs: readonly ContainerRun[] } | TimerEvent;
