/** How long the agent that lives has known of a pod: while none knows of it, no reason can have its consequences. */
import { ACTS_FOR_MS } from '../touches.ts';

export class Attention {
  /** When the present agent told of each pod first, by its UID. */
  readonly #heard = new Map<string, number>();
  #lastCall = Number.POSITIVE_INFINITY;
  /** When the agent before made its last call. */
  #left = Number.POSITIVE_INFINITY;

  noteCall(at: number): void {
    this.#lastCall = at;
  }

  noteLife(): void {
    this.#left = this.#lastCall;
    this.#heard.clear();
  }

  noteStatus(uid: string, at: number): void {
    if (!this.#heard.has(uid)) this.#heard.set(uid, at);
  }

  /** The moment at which a reason must still be one: now, or when the agent before left where this one has just heard of it. */
  momentFor(uid: string, now: number): number {
    const heard = this.#heard.get(uid) ?? now;
    return heard + ACTS_FOR_MS >= now ? Math.min(this.#left, now) : now;
  }
}
