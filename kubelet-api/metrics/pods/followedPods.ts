/** The pods of a node, as long as they are there: what has happened to each, as far as it is counted or timed. */
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

/** One that has an actor. Moments are milliseconds since the epoch. */
export interface FollowedPod {
  readonly seenAt: number;
  /** When its work began: it waits for no other pod. */
  begunAt?: number;
  /** When it began to end. */
  endingAt?: number;
  /** When it was gone from the node, of one whose last status is still to be told. */
  goneAt?: number;
  /** The resource that a critical pod was short of, if the pod terminates for it. */
  preemptedFor?: string;
  isRefused: boolean;
  /** Whether all that it begins with has been done. */
  isRoundOver: boolean;
  /** Whether it had run before the agent began: nothing of its start was seen. */
  isOld: boolean;
  /** How far its start has come, as it is told. */
  start: 'pending' | 'started' | 'told';
  /** As it was told last. */
  pod: Pod | undefined;
  /** Since when there is something in its status that the API server has not been told. */
  untoldSince?: number;
  /** When the launch of each of its containers began, of those that are under way. */
  readonly launches: Map<string, number>;
  /** When images were pulled for it until it has started. */
  readonly pulls: (readonly [from: number, to: number])[];
}

/** So long the last status of a pod may take to be told: it may wait for a disk. */
const LINGERING_MS = 60_000;

export class FollowedPods {
  readonly #all = new Map<string, FollowedPod>();

  get size(): number {
    return this.#all.size;
  }

  of = (uid: string): FollowedPod | undefined => this.#all.get(uid);

  /** It has an actor, be it another than before. */
  begin(uid: string, at: number): FollowedPod {
    const known = this.#all.get(uid);
    if (known !== undefined && known.goneAt === undefined) return known;
    const made: FollowedPod = {
      seenAt: at,
      isRefused: false,
      isRoundOver: false,
      isOld: false,
      start: 'pending',
      pod: undefined,
      launches: new Map<string, number>(),
      pulls: [],
    };
    this.#all.set(uid, made);
    return made;
  }

  /** Nothing more is told of it. */
  forget(uid: string): void {
    this.#all.delete(uid);
  }

  /** Forgets those that were gone long before a moment. */
  sweep(now: number): void {
    for (const [uid, { goneAt }] of this.#all)
      if (goneAt !== undefined && now - goneAt > LINGERING_MS) this.#all.delete(uid);
  }
}
