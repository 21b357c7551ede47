/** The time during which nothing happens on a node of a cluster, so that it has nothing to send to the API server. */
import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Following, Watched } from './invariant.ts';
import { Undisturbed } from './undisturbed.ts';

/** By then the node has reacted to the last event, and has retried everything that failed. */
const CALM_AFTER_MS = 60_000;

/** Requests without a cause, which show that the node is alive. Tokens have their own rules. */
const ALIVE = /(^| )(leases|nodes(\/status)?|csinodes|serviceaccounts\/token)$/;
/** Periodic reads of objects that are not watched. */
const LOOKED_AT = /^get (configmaps|secrets)$/;
/** A client that starts a watch may learn of missed changes, and may not know the result of its own writes before. */
const LISTENS = /^(watch|list) /;

export class QuietTime {
  readonly #watched: Watched;
  readonly #undisturbed: Undisturbed;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#undisturbed = new Undisturbed(watched);
  }

  get disturb(): () => void {
    return this.#undisturbed.disturb;
  }

  /** The hooks that end the quiet time. */
  disturbances(): Following {
    const { disturb } = this;
    return { onEffect: disturb, onStatus: disturb, onEvent: disturb, onLifeBegan: disturb, beforeJump: disturb };
  }

  /** Whether a call has no cause. */
  isNeedless(call: OutsideCall, fate: Fate | undefined): boolean {
    const { room, name } = call;
    this.#undisturbed.noteCall(call, fate);
    if (room === 'api' && LISTENS.test(name)) this.disturb();
    if (room !== 'api' || ALIVE.test(name)) return false;
    if (LOOKED_AT.test(name) && this.#watched.cluster?.isWatched === false) return false;
    const { host, deeds } = this.#watched;
    return host.clock.elapsed - Math.max(this.#undisturbed.since, deeds.touchedAt) > CALM_AFTER_MS;
  }
}
