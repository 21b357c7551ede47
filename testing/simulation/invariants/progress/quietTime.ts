/** The time during which nothing happens on a node of a cluster, so that it has nothing to send to the API server. */
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Hooks, Watched } from '../invariant.ts';
import { Undisturbed } from './undisturbed.ts';

/** By then the node has reacted to the last event, and has retried everything that failed. */
const CALM_AFTER_MS = 60_000;

/** Requests without a cause, which show that the node is alive. Tokens have their own rules. */
const HEARTBEATS = /(^| )(leases|nodes(\/status)?|csinodes|serviceaccounts\/token)$/;
/** Periodic reads of objects that are not watched. */
const PERIODIC_READS = /^get (configmaps|secrets)$/;
/** A client that starts a watch may learn of missed changes, and may not know the result of its own writes before. */
const WATCH_STARTS = /^(watch|list) /;
/** The call that deletes ResourceSlices, and the longest delay before a failed one is repeated. */
const SLICES_DELETION = 'deletecollection resourceslices';
const SLICES_RETRY_MS = 300_000;

export class QuietTime {
  readonly #watched: Watched;
  readonly #undisturbed: Undisturbed;
  #slicesFailedAt = Number.NEGATIVE_INFINITY;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#undisturbed = new Undisturbed(watched);
  }

  get disturb(): () => void {
    return this.#undisturbed.disturb;
  }

  /** The hooks that end the quiet time. */
  hooks(): Hooks {
    const { disturb } = this;
    return { onEffect: disturb, onStatus: disturb, onEvent: disturb, onAgentStarted: disturb, beforeJump: disturb };
  }

  /** Whether a call has no cause. */
  hasNoCause(call: OutsideCall, fault: CallFault | undefined): boolean {
    const { target, name } = call;
    const { host, actionLog, cluster } = this.#watched;
    const { elapsed } = host.clock;
    this.#undisturbed.noteCall(call, fault);
    if (name === SLICES_DELETION && (fault !== undefined || cluster?.hasFault)) this.#slicesFailedAt = elapsed;
    if (target === 'api' && WATCH_STARTS.test(name)) this.disturb();
    if (target !== 'api' || HEARTBEATS.test(name)) return false;
    if (PERIODIC_READS.test(name) && cluster?.isWatched === false) return false;
    const retryUntil = name === SLICES_DELETION ? this.#slicesFailedAt + SLICES_RETRY_MS : 0;
    const lastCauseAt = Math.max(this.#undisturbed.since, actionLog.lastCauseAt, retryUntil);
    return elapsed - lastCauseAt > CALM_AFTER_MS;
  }
}
