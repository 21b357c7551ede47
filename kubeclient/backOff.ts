/**
 * Computes the exponential back-off between attempts. The back-off is reset every two minutes, so that a server that
 * recovers after hours is contacted promptly (`tools/cache/reflector.go`, `util/wait/backoff.go` of client-go).
 */
import type { Clock } from '../base/time/clock.ts';

const INITIAL_DELAY_MS = 800;
const MAX_DELAY_MS = 30_000;
const RESET_INTERVAL_MS = 120_000;

export class BackOff {
  readonly #clock: Clock;
  readonly #jitter: () => number;
  #delayMs = INITIAL_DELAY_MS;
  #startedAt: number;

  /**
   * Creates a back-off. `jitter` returns the fraction, in [0, 1), by which a delay is extended so that clients do not
   * retry simultaneously.
   */
  constructor(clock: Clock, jitter: () => number) {
    this.#clock = clock;
    this.#jitter = jitter;
    this.#startedAt = clock.monotonic();
  }

  /** Returns the delay before the next attempt, in milliseconds. */
  nextDelay(): number {
    const now = this.#clock.monotonic();
    if (now - this.#startedAt > RESET_INTERVAL_MS) {
      this.#delayMs = INITIAL_DELAY_MS;
      this.#startedAt = now;
    }
    const jitteredMs = this.#delayMs * (1 + this.#jitter());
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
    return jitteredMs;
  }
}
