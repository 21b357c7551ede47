/** Defines the events between the node and the machine that evicts pods. */
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PressureCondition } from '../../../kubernetes/eviction/signals.ts';
import type { DeadContainer } from '../../../kubernetes/lifecycle/garbage.ts';
import type { Termination } from '../../../kubernetes/status/view.ts';
import type { TimerEvent } from './slots.ts';

/** A pod to evict, and its termination. */
interface Victim {
  readonly uid: string;
  readonly termination: Termination;
}

/** Requests and reports that the eviction machine sends to the node. */
export type EvictionReport =
  | { type: 'eviction.podsRequested' }
  /** The node's pressure conditions have changed. `at` is in milliseconds since the epoch. */
  | { type: 'eviction.pressureChanged'; conditions: readonly PressureCondition[]; at: number }
  | { type: 'eviction.podsChosen'; victims: readonly Victim[] };

/** The progress of a termination that the node awaits, as reported by the pod. */
export type TerminationReport =
  /** No process of the pod is left. */
  | { type: 'pod.stopped'; uid: string }
  /** The pod has been removed, except for its logs and dead containers if a source still contains the pod. */
  | { type: 'pod.cleanedUp'; uid: string };

/** The available memory has fallen below an eviction threshold. `at` is in milliseconds since the epoch. */
export type MemoryFact = { type: 'memory.thresholdMet'; at: number };

export type EvictionEvent =
  | {
      type: 'eviction.podsListed';
      /** The pods that may have running processes, with the resources that were admitted. */
      pods: readonly Pod[];
      /** All dead containers on the node. */
      deadContainers: readonly DeadContainer[];
    }
  | TerminationReport
  | MemoryFact
  | TimerEvent;
