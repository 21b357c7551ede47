/** Detects when nothing happens on a node of a cluster, so that it has nothing to send to the API server. */
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Hooks, Watched } from '../invariant.ts';
import { Undisturbed } from './undisturbed.ts';

/** Time in milliseconds after which the node has reacted to the last event and has retried everything that failed. */
const CALM_AFTER_MS = 60_000;

/** Periodic requests that show that the node is alive. Token requests have their own rules. */
const HEARTBEATS = /(^| )(leases|nodes(\/status)?|csinodes|serviceaccounts\/token)$/;
/** Periodic reads of objects that are not watched. */
const PERIODIC_READS = /^get (configmaps|secrets)$/;
/**
 * A client that starts a watch may learn of changes that it missed, and may not have known the result of its own
 * writes.
 */
const WATCH_STARTS = /^(watch|list) /;
/** The call that deletes ResourceSlices, and the maximum delay before it is retried, in milliseconds. */
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

  /** Returns hooks that end the quiet time. */
  hooks(): Hooks {
    const { disturb } = this;
    return { onEffect: disturb, onStatus: disturb, onEvent: disturb, onAgentStarted: disturb, beforeJump: disturb };
  }

  /** Whether nothing explains the call. */
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
