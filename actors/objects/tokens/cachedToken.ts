/**
 * Measures the age of service account tokens. Only the API server decides whether a token is valid, and its clock may
 * differ from that of the node. Therefore the token's expiration time is never compared with the node's clock. Instead,
 * the node measures how much time has passed since it sent the request for the token, and compares this age with the
 * lifetime that the server specifies. The age is the larger of two measurements, because each clock alone can be wrong.
 * The monotonic clock cannot be adjusted, but stops while the host is suspended. The wall clock does not stop, but can
 * be adjusted. Renewing a token too early only costs a request, but renewing it too late costs a pod its access. If the
 * wall clock was adjusted backwards, it does not reveal the age. However, if the API server uses the same clock, the
 * token's issue time is now in the server's future, so the token is renewed in this case, too.
 */

import type { Clock } from '../../../base/time/clock.ts';
import { Secret } from '../../../host/secret.ts';

/** The same point in time on the monotonic clock and on the wall clock, in milliseconds. */
export interface ClockReading {
  readonly monotonic: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export const readClocks = (clock: Pick<Clock, 'now' | 'monotonic'>): ClockReading => ({
  monotonic: clock.monotonic(),
  now: clock.now(),
});

const HOUR_MS = 3_600_000;
/** Tokens with a longer lifetime are renewed at this age (`pkg/kubelet/token/token_manager.go`). */
const MAX_AGE_MS = 24 * HOUR_MS;
/** Fraction of the lifetime after which a token is renewed. */
const RENEWAL_FRACTION = 0.8;
/** Maximum random time by which a token is renewed earlier, so that not all tokens are renewed at once. */
const MAX_JITTER_MS = 10_000;
/**
 * Tolerance for clock changes, in milliseconds. If the wall clock shows less elapsed time than the monotonic clock by
 * more than this, it is considered to have been set back. Time synchronization only makes smaller steps. An API
 * server's clock may be behind the token's issue time by up to this much.
 */
const MAX_CLOCK_STEP_BACK_MS = 60_000;

export class CachedToken {
  readonly #token: Secret;
  readonly #requestTime: ClockReading;
  readonly #lifetimeMs: number;
  readonly #renewAfterMs: number;

  /**
   * `requestedAt` is the time at which the request was sent. `chance`, in [0, 1), determines how much earlier the token
   * is renewed.
   */
  constructor(token: string, lifetimeMs: number, requestedAt: ClockReading, chance: number) {
    this.#token = new Secret(token);
    this.#requestTime = requestedAt;
    this.#lifetimeMs = lifetimeMs;
    this.#renewAfterMs = Math.min(lifetimeMs * RENEWAL_FRACTION, MAX_AGE_MS) - chance * MAX_JITTER_MS;
  }

  get token(): string {
    return this.#token.read();
  }

  /** Returns the time until the token should be renewed, in milliseconds. */
  msUntilRenewal(at: ClockReading): number {
    return this.#wasClockSetBack(at) ? 0 : Math.max(0, this.#renewAfterMs - this.#ageMs(at));
  }

  /** Returns 0 for an expired token. */
  remainingLifetimeMs(at: ClockReading): number {
    return Math.max(0, this.#lifetimeMs - this.#ageMs(at));
  }

  #ageMs(at: ClockReading): number {
    return Math.max(at.monotonic - this.#requestTime.monotonic, at.now - this.#requestTime.now);
  }

  /** Whether the wall clock has been adjusted backwards since the request. */
  #wasClockSetBack(at: ClockReading): boolean {
    return at.monotonic - this.#requestTime.monotonic - (at.now - this.#requestTime.now) > MAX_CLOCK_STEP_BACK_MS;
  }
}
