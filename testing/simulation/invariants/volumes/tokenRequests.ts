/** Detects token requests without a cause: for a pod that is gone, or while the last token is still fresh. */
import type { TokenRequest } from '../../cluster/tokenRequest.ts';
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Watched } from '../invariant.ts';
import { Undisturbed } from '../progress/undisturbed.ts';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600_000;
/** A token is renewed after this share of its lifetime, or slightly earlier (`pkg/kubelet/token/token_manager.go`). */
const RENEWAL_SHARE = 0.8;
const RENEWAL_JITTER_MS = 10_000;
/** Tolerance for early timers and overtaking calls. */
const SLACK_MS = 2_000;
/** By then the node knows that a pod is gone. */
const NOTICE_MS = 60_000;

const keyOf = ({ podUid, path, audience, seconds }: TokenRequest): string =>
  JSON.stringify([podUid, path, audience, seconds]);

export class TokenRequests {
  readonly #watched: Watched;
  readonly #undisturbed: Undisturbed;
  /** The time of the last request for each token, in node time. */
  readonly #requestedAt = new Map<string, number>();
  /** The times at which pods were deleted from the server. */
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

  /** Called when a token may be lost: the clock is set, an agent starts, or a call is aborted with its response. */
  readonly disturb = (): void => this.#undisturbed.disturb();

  /** Returns what is wrong with a request that the server has answered. */
  note(asked: TokenRequest): string[] {
    const { podUid, podName, seconds, isIssued } = asked;
    const { since } = this.#undisturbed;
    const gone = this.#goneAt.get(podUid);
    const madeAt = this.#requestedAt.get(keyOf(asked));
    const good = Math.min(seconds * SECOND_MS * RENEWAL_SHARE, DAY_MS) - RENEWAL_JITTER_MS - SLACK_MS;
    if (isIssued) this.#requestedAt.set(keyOf(asked), this.#now);
    const isGone = gone !== undefined && this.#now - Math.max(gone, since) > NOTICE_MS;
    const isGood = madeAt !== undefined && madeAt > since && this.#now - madeAt < good;
    return [
      ...(isGone ? [`a token is asked for ${podName}, which is gone from the API server`] : []),
      ...(isGood ? [`another token is asked for ${podName}, whose last one holds for ${seconds} s`] : []),
    ];
  }
}
