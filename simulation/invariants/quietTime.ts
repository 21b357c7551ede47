/** The time in which nothing happens to a node of a cluster: then its API server has nothing to hear. */
import type { Fate, OutsideCall } from '../outside.ts';
import type { Following, Watched } from './invariant.ts';

/** What follows from something has followed by then: what fails is tried again within that time. */
const CALM_AFTER_MS = 60_000;

/** What is asked for without a reason: to tell that the node is alive. */
const ALIVE = /(^| )(leases|nodes(\/status)?|csinodes)$/;
/** Whoever begins to follow something may hear what he has missed; before that he may not know what he has done. */
const LISTENS = /^(watch|list) /;

export class QuietTime {
  readonly #watched: Watched;
  #since = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Something has happened. */
  readonly disturb = (): void => {
    this.#since = this.#watched.host.clock.elapsed;
  };

  /** What disturbs it. */
  disturbances(): Following {
    const { disturb } = this;
    return { onEffect: disturb, onStatus: disturb, onEvent: disturb, onLifeBegan: disturb, beforeJump: disturb };
  }

  /** Whether a call has no reason. */
  isNeedless({ room, name }: OutsideCall, fate: Fate | undefined): boolean {
    if (fate !== undefined || this.#watched.cluster?.isTroubled) this.disturb();
    if (room === 'api' && LISTENS.test(name)) this.disturb();
    if (room !== 'api' || ALIVE.test(name)) return false;
    const { host, deeds } = this.#watched;
    return host.clock.elapsed - Math.max(this.#since, deeds.touchedAt) > CALM_AFTER_MS;
  }
}
