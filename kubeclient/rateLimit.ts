/** How many requests a client may make: a bucket of tokens that fills again (`util/flowcontrol/throttle.go` of client-go). */
import type { Clock } from './clock.ts';

export interface Rate {
  /** Requests in a second. */
  readonly qps: number;
  /** So many may come at once. */
  readonly burst: number;
}

const SECOND_MS = 1000;

export class RateLimit {
  readonly #rate: Rate;
  readonly #clock: Clock;
  /** Below 0: so many are waiting. */
  #tokens: number;
  #at: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#at = clock.monotonic();
  }

  /** How long the next request has to wait, in milliseconds; it counts from now on. */
  take(): number {
    const { qps, burst } = this.#rate;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) * qps) / SECOND_MS) - 1;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens * SECOND_MS) / qps);
  }

  /** Whether the next request may be made at once; if not, it does not count. */
  takeNow(): boolean {
    if (this.take() === 0) return true;
    this.giveBack();
    return false;
  }

  /** What was taken is not made: nobody has to wait for it. */
  giveBack(): void {
    this.#tokens += 1;
  }
}
