/**
 * Tracks since when the current agent has known the state of each pod. While no agent knows it, no cause can take
 * effect.
 */
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import { MAX_EFFECT_DELAY_MS } from '../../checks/causeTimes.ts';

/** Whether a status shows a container that the agent has adopted or created. */
const knowsRuns = ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean =>
  [...initContainerStatuses, ...containerStatuses].some(({ state }) => state?.running ?? state?.terminated);

export class PodKnowledge {
  /** Node time of the current agent's first status with a container, by pod UID. */
  readonly #knownSince = new Map<string, number>();
  /** Node time of the last call of the previous agent that knew the pod, by pod UID. */
  readonly #lastKnownAt = new Map<string, number>();
  #lastCall = 0;

  noteCall(at: number): void {
    this.#lastCall = at;
  }

  noteAgentStart(): void {
    for (const uid of this.#knownSince.keys()) this.#lastKnownAt.set(uid, this.#lastCall);
    this.#knownSince.clear();
  }

  noteStatus({ uid, pod }: PodChange, at: number): void {
    if (!this.#knownSince.has(uid) && pod.status && knowsRuns(pod.status)) this.#knownSince.set(uid, at);
  }

  /**
   * Returns the node time at which a cause must still be valid. This is `now`, or the time at which a previous agent
   * last knew the pod if the current one has only just learned of it.
   */
  causeTimeFor(uid: string, now: number): number {
    const heard = this.#knownSince.get(uid) ?? now;
    return heard + MAX_EFFECT_DELAY_MS >= now ? Math.min(this.#lastKnownAt.get(uid) ?? 0, now) : now;
  }
}
