/**
 * How long the current agent has known the state of each pod. As long as no agent knows it, no cause can have
 * consequences.
 */
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { ACTS_FOR_MS } from '../checks/touches.ts';

/** Whether a status shows a container that the agent has adopted or created. */
const knowsRuns = ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean =>
  [...initContainerStatuses, ...containerStatuses].some(({ state }) => state?.running ?? state?.terminated);

export class Attention {
  /** The time of the current agent's first status with a container, by pod UID. */
  readonly #heard = new Map<string, number>();
  /** The time of the last call of the previous agent that knew the pod. */
  readonly #left = new Map<string, number>();
  #lastCall = 0;

  noteCall(at: number): void {
    this.#lastCall = at;
  }

  noteLife(): void {
    for (const uid of this.#heard.keys()) this.#left.set(uid, this.#lastCall);
    this.#heard.clear();
  }

  noteStatus({ uid, pod }: PodChange, at: number): void {
    if (!this.#heard.has(uid) && pod.status && knowsRuns(pod.status)) this.#heard.set(uid, at);
  }

  /**
   * The time at which a cause must still be valid: now, or the time at which a previous agent last knew the pod, if the
   * current one has only just learned of it.
   */
  momentFor(uid: string, now: number): number {
    const heard = this.#heard.get(uid) ?? now;
    return heard + ACTS_FOR_MS >= now ? Math.min(this.#left.get(uid) ?? 0, now) : now;
  }
}
