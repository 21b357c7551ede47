/** Tracks the node's pods and the times and flags from which the pod metrics are computed. */
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

/** A pod that has or had an actor. Times are in milliseconds since the epoch. */
export interface TrackedPod {
  readonly firstSeenAt: number;
  /** Time at which the pod's admission started, i.e. when the pod no longer had to wait for another pod. */
  workStartedAt?: number;
  /** Time at which the pod requested admission. Undefined unless the decision is pending. */
  admittingSince?: number;
  terminatingSince?: number;
  /**
   * Time of the pod's removal from the node. The pod remains tracked for a while, because its last status may not have
   * been published yet.
   */
  removedAt?: number;
  /** The resource for which a critical pod preempted this pod. */
  preemptedFor?: string;
  isRejected: boolean;
  /** Whether the work that the kubelet does in a pod's first sync is complete. */
  isFirstRoundDone: boolean;
  /** Whether the pod was already running when the agent started, in which case its start was not observed. */
  hadRunBeforeAgent: boolean;
  /** `published` once the API server has received a status with running containers. */
  startState: 'pending' | 'started' | 'published';
  /** The pod as of its last status change. */
  pod: Pod | undefined;
  /** Time of the first status change that the API server has not received. */
  unpublishedSince?: number;
  /** Start times of container launches in progress, by the container's actor path. */
  readonly launchTimes: Map<string, number>;
  /** Start and end of each image pull before the pod started. */
  readonly pulls: (readonly [from: number, to: number])[];
}

/**
 * Maximum time that a removed pod remains tracked while its last status is being published. Publishing may take a long
 * time, e.g. while a disk is full.
 */
const MAX_LINGER_MS = 60_000;

export class TrackedPods {
  readonly #podsByUid = new Map<string, TrackedPod>();

  get size(): number {
    return this.#podsByUid.size;
  }

  get = (uid: string): TrackedPod | undefined => this.#podsByUid.get(uid);

  /** Adds a pod when its actor starts. A new actor for the UID of a removed pod replaces the entry. */
  track(uid: string, at: number): TrackedPod {
    const existingPod = this.#podsByUid.get(uid);
    if (existingPod !== undefined && existingPod.removedAt === undefined) return existingPod;
    const pod: TrackedPod = {
      firstSeenAt: at,
      isRejected: false,
      isFirstRoundDone: false,
      hadRunBeforeAgent: false,
      startState: 'pending',
      pod: undefined,
      launchTimes: new Map<string, number>(),
      pulls: [],
    };
    this.#podsByUid.set(uid, pod);
    return pod;
  }

  forget(uid: string): void {
    this.#podsByUid.delete(uid);
  }

  /** Drops pods that were removed more than `MAX_LINGER_MS` before `now`. */
  sweep(now: number): void {
    for (const [uid, { removedAt }] of this.#podsByUid)
      if (removedAt !== undefined && now - removedAt > MAX_LINGER_MS) this.#podsByUid.delete(uid);
  }
}
