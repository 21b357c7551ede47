/** Limits the rate of requests with a token bucket (`util/flowcontrol/throttle.go` of client-go). */
import type { Clock } from '../base/time/clock.ts';

export interface RateLimitOptions {
  /** Requests per second. */
  readonly qps: number;
  /** Maximum number of requests that may be sent without a delay after an idle period. */
  readonly burst: number;
}

const SECOND_MS = 1000;

export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #clock: Clock;
  /** Number of available tokens. While requests are waiting, it is negative. */
  #tokens: number;
  #updatedAt: number;

  constructor(rate: RateLimitOptions, clock: Clock) {
    this.#options = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#updatedAt = clock.monotonic();
  }

  /** Takes a token, and returns the delay in milliseconds after which the request may be sent. */
  takeToken(): number {
    const { qps, burst } = this.#options;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#updatedAt) * qps) / SECOND_MS) - 1;
    this.#updatedAt = now;
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens * SECOND_MS) / qps);
  }

  /** Takes a token only if one is available, and returns whether it did. */
  tryTakeToken(): boolean {
    if (this.takeToken() === 0) return true;
    this.releaseToken();
    return false;
  }

  /** Releases the token of a request that will not be sent, so that another request can take it. */
  releaseToken(): void {
    this.#tokens += 1;
  }
}
