/** The time in which nothing happens to a node of a cluster: then its API server has nothing to hear. */
import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Following, Watched } from './invariant.ts';
import { Undisturbed } from './undisturbed.ts';

/** What follows from something has followed by then: what fails is tried again within that time. */
const CALM_AFTER_MS = 60_000;

/** What is asked for without a reason: to tell that the node is alive. Tokens have reasons of their own. */
const ALIVE = /(^| )(leases|nodes(\/status)?|csinodes|serviceaccounts\/token)$/;
/** What is looked at now and then where nobody follows it. */
const LOOKED_AT = /^get (configmaps|secrets)$/;
/** Whoever begins to follow something may hear what he has missed; before that he may not know what he has done. */
const LISTENS = /^(watch|list) /;

export class QuietTime {
  readonly #watched: Watched;
  readonly #undisturbed: Undisturbed;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#undisturbed = new Undisturbed(watched);
  }

  /** Something has happened. */
  get disturb(): () => void {
    return this.#undisturbed.disturb;
  }

  /** What disturbs it. */
  disturbances(): Following {
    const { disturb } = this;
    return { onEffect: disturb, onStatus: disturb, onEvent: disturb, onLifeBegan: disturb, beforeJump: disturb };
  }

  /** Whether a call has no reason. */
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
