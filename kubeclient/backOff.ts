/**
 * How long to wait before another try: ever longer, and from the beginning again every two minutes, so that nobody has to
 * wait long for a server that returns after hours (`tools/cache/reflector.go`, `util/wait/backoff.go` of client-go).
 */
import type { Clock } from './clock.ts';

const FIRST_MS = 800;
const LONGEST_MS = 30_000;
const RESET_MS = 120_000;

export class BackOff {
  readonly #clock: Clock;
  readonly #jitter: () => number;
  #next = FIRST_MS;
  #begunAt: number;

  /** `jitter` gives at least 0 and less than 1: so much longer a wait may be, that not all come at once. */
  constructor(clock: Clock, jitter: () => number) {
    this.#clock = clock;
    this.#jitter = jitter;
    this.#begunAt = clock.monotonic();
  }

  /** In milliseconds. */
  next(): number {
    const now = this.#clock.monotonic();
    if (now - this.#begunAt > RESET_MS) {
      this.#next = FIRST_MS;
      this.#begunAt = now;
    }
    const wait = this.#next * (1 + this.#jitter());
    this.#next = Math.min(this.#next * 2, LONGEST_MS);
    return wait;
  }
}
