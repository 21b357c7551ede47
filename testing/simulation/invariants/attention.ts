/** How long the agent that lives has known how a pod runs: while none knows that, no reason can have its consequences. */
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { ACTS_FOR_MS } from '../checks/touches.ts';

/** Whether it tells of a container that it has found or made at the runtime. */
const knowsRuns = ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean =>
  [...initContainerStatuses, ...containerStatuses].some(({ state }) => state?.running ?? state?.terminated);

export class Attention {
  /** When the present agent told of a run of each pod first, by its UID. */
  readonly #heard = new Map<string, number>();
  /** When the last agent before it that had done so made its last call. */
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

  /** The moment at which a reason must still be one: now, or when an agent knew of it last where this one has just heard of it. */
  momentFor(uid: string, now: number): number {
    const heard = this.#heard.get(uid) ?? now;
    return heard + ACTS_FOR_MS >= now ? Math.min(this.#left.get(uid) ?? 0, now) : now;
  }
}
