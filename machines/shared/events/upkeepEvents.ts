/** Defines the events between the node and its garbage collections, log rotation and CPU and memory managers. */
import type { ClaimState, RegisteredDriver } from '../../../kubernetes/claims/claimState.ts';
import type { CpuAssignments } from '../../../kubernetes/cpus/cpuPolicy.ts';
import type { DeadContainer } from '../../../kubernetes/lifecycle/garbage.ts';
import type { ContainerRun, ForeignPod, LeftoverPod } from '../../../kubernetes/lifecycle/observed.ts';
import type { MemoryAssignments } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import type { TimerEvent } from './slots.ts';

/** The data that the node sends to its garbage collection. */
export interface NodeGarbage {
  readonly containers: readonly DeadContainer[];
  /** IDs of old sandboxes. */
  readonly sandboxes: readonly string[];
  /** UIDs of the pods that have an actor. */
  readonly activePodUids: readonly string[];
  /**
   * The pods of other agents that have a directory below this agent's root, according to the last survey of the disk.
   */
  readonly foreign: readonly ForeignPod[];
}

/** Requests and reports that the garbage collection sends to the node. */
export type GarbageReport =
  | { type: 'garbage.requested' }
  /**
   * Pods that have files on this node but no actor. Leftover pods of this agent have to terminate. For pods of other
   * agents, only changes are listed.
   */
  | {
      type: 'garbage.podsFound';
      left: readonly LeftoverPod[];
      foreign: readonly ForeignPod[];
      removedUids: readonly string[];
    };

export type GarbageEvent = { type: 'garbage.listed'; garbage: NodeGarbage } | TimerEvent;

/** The request that the log rotation sends to the node. */
export type LogsReport = { type: 'logs.requested' };

export type LogsEvent = { type: 'logs.listed'; logs: readonly ContainerRun[] } | TimerEvent;

/** The request that the image garbage collection sends to the node. */
export type ImageGarbageReport = { type: 'images.podsRequested' };

export type ImageGarbageEvent =
  /** UIDs of the pods that may still create containers. */
  { type: 'images.podsListed'; activePodUids: readonly string[] } | TimerEvent;

/** The request that the claims' actor sends to the node. */
export type ClaimsReport = { type: 'claims.podsRequested' };

/** Facts about ResourceClaims and their drivers. */
export type ClaimsFact =
  /** All claims that are, or are about to be, prepared on the node. */
  | { type: 'claims.changed'; claims: readonly ClaimState[] }
  /** All registered drivers. */
  | { type: 'drivers.changed'; drivers: readonly RegisteredDriver[]; at: number };

export type ClaimsEvent =
  | ClaimsFact
  /** UIDs of the pods that may use claims. Undefined while a source has not listed its pods. */
  | { type: 'claims.podsListed'; activePodUids: readonly string[] | undefined }
  | TimerEvent;

/** The driver's plugin has connected or disconnected. */
export type DriverEvent = { type: 'driver.changed'; isConnected: boolean } | TimerEvent;

/** The request that the CPU manager sends to the node. */
export type CpusReport = { type: 'cpus.requested' };

export type CpusEvent =
  /** Admission has assigned or released CPUs. */
  | { type: 'cpus.assigned'; assignments: CpuAssignments; revision: number }
  | { type: 'cpus.listed'; containers: readonly ContainerRun[] }
  | TimerEvent;

export type MemoryManagerEvent =
  /** Admission has assigned or released memory. */
  { type: 'memory.assigned'; assignments: MemoryAssignments; revision: number } | TimerEvent;
