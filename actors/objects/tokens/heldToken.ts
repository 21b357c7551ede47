/**
 * A token of a service account, and how old it is. What it is worth is for the API server to say, whose clock may be
 * another than that of the node: so nothing is compared with the moment at which the server says that it expires. The
 * server says as well for how long it holds, and that is counted here, from before it was asked for.
 *
 * It is counted by two clocks. The monotonic one is not set by anybody, but stands still while the host is suspended; the
 * time of day goes on meanwhile, but somebody may set it. A token is as old as the one says that has gone further: to
 * renew one too soon costs a request, too late a pod's access. A time of day that was set back says nothing of its age;
 * but it may be that of the API server too, to which the token is then one of the future: so it is renewed as well.
 */

import type { Clock } from '../../../base/clock.ts';
import { Secret } from '../../../host/secretText.ts';

/** A moment by both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  /** Since the epoch. */
  readonly now: number;
}

export const momentOf = (clock: Pick<Clock, 'now' | 'monotonic'>): Moment => ({
  monotonic: clock.monotonic(),
  now: clock.now(),
});

const HOUR_MS = 3_600_000;
/** A token that holds for longer is renewed at this age (`pkg/kubelet/token/token_manager.go`). */
const OLDEST_MS = 24 * HOUR_MS;
/** Of its life so much is over when it is renewed. */
const SHARE = 0.8;
/** So much sooner it may be renewed, that not all come at once. */
const JITTER_MS = 10_000;
/** Clocks that others keep right are set by less, or slowly; and by so much may that of an API server be behind a token. */
const SET_BACK_MS = 60_000;

export class HeldToken {
  readonly #token: Secret;
  readonly #asked: Moment;
  readonly #lifetimeMs: number;
  readonly #renewedAfterMs: number;

  /** `asked` is from before it was asked for; `chance` is at least 0 and less than 1. */
  constructor(token: string, lifetimeMs: number, asked: Moment, chance: number) {
    this.#token = new Secret(token);
    this.#asked = asked;
    this.#lifetimeMs = lifetimeMs;
    this.#renewedAfterMs = Math.min(lifetimeMs * SHARE, OLDEST_MS) - chance * JITTER_MS;
  }

  get token(): string {
    return this.#token.read();
  }

  /** How long until another should be had, in milliseconds. */
  dueIn(at: Moment): number {
    return this.#isFromLater(at) ? 0 : Math.max(0, this.#renewedAfterMs - this.#age(at));
  }

  /** How long it holds, in milliseconds. */
  expiresIn(at: Moment): number {
    return Math.max(0, this.#lifetimeMs - this.#age(at));
  }

  #age(at: Moment): number {
    return Math.max(at.monotonic - this.#asked.monotonic, at.now - this.#asked.now);
  }

  /** Whether the time of day was set back since. */
  #isFromLater(at: Moment): boolean {
    return at.monotonic - this.#asked.monotonic - (at.now - this.#asked.now) > SET_BACK_MS;
  }
}
