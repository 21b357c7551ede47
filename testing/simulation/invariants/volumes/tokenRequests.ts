/** Detects unnecessary token requests, i.e. for a pod that is gone or while the last token is still fresh. */
import type { TokenRequest } from '../../cluster/tokenRequest.ts';
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Watched } from '../invariant.ts';
import { Undisturbed } from '../progress/undisturbed.ts';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600_000;
/**
 * Share of its lifetime after which a token is renewed, possibly slightly earlier
 * (`pkg/kubelet/token/token_manager.go`).
 */
const RENEWAL_SHARE = 0.8;
const RENEWAL_JITTER_MS = 10_000;
/** Tolerance in milliseconds for early timers and for calls that overtake each other. */
const SLACK_MS = 2_000;
/** Time in milliseconds after which the node knows that a pod is gone. */
const NOTICE_MS = 60_000;

const keyOf = ({ podUid, path, audience, seconds }: TokenRequest): string =>
  JSON.stringify([podUid, path, audience, seconds]);

export class TokenRequests {
  readonly #watched: Watched;
  readonly #undisturbed: Undisturbed;
  /** Node time of the last request for each token. */
  readonly #requestedAt = new Map<string, number>();
  /** Node time at which each pod was deleted from the API server, by UID. */
  readonly #goneAt = new Map<string, number>();

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#undisturbed = new Undisturbed(watched);
    watched.cluster?.watchPods(({ type, now: { uid } }) => {
      if (type === 'DELETED') this.#goneAt.set(uid, this.#now);
    });
  }

  get #now(): number {
    return this.#watched.host.clock.elapsed;
  }

  noteCall(call: OutsideCall, fault: CallFault | undefined): void {
    this.#undisturbed.noteCall(call, fault);
  }

  /**
   * Called when a token may be lost because the clock is set, an agent starts, or a call is aborted with its response.
   */
  readonly disturb = (): void => this.#undisturbed.disturb();

  /** Records a request to which the API server has responded, and returns what is wrong with it. */
  note(request: TokenRequest): string[] {
    const { podUid, podName, seconds, isIssued } = request;
    const { since } = this.#undisturbed;
    const goneAt = this.#goneAt.get(podUid);
    const lastRequestAt = this.#requestedAt.get(keyOf(request));
    const freshMs = Math.min(seconds * SECOND_MS * RENEWAL_SHARE, DAY_MS) - RENEWAL_JITTER_MS - SLACK_MS;
    if (isIssued) this.#requestedAt.set(keyOf(request), this.#now);
    const isGone = goneAt !== undefined && this.#now - Math.max(goneAt, since) > NOTICE_MS;
    const isFresh = lastRequestAt !== undefined && lastRequestAt > since && this.#now - lastRequestAt < freshMs;
    return [
      ...(isGone ? [`a token is requested for ${podName}, which is gone from the API server`] : []),
      ...(isFresh ? [`another token is requested for ${podName}, whose last one is valid for ${seconds} s`] : []),
    ];
  }
}
