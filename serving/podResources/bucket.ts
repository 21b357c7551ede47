import type { Clock } from '../../actors/clock.ts';

/** Tokens that come at a rate, of which only so many are kept. */
export class Bucket {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #perMs: number;
  readonly #most: number;
  #tokens: number;
  #at: number;

  constructor({ clock, perSecond, burst }: { clock: Pick<Clock, 'monotonic'>; perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#perMs = perSecond / 1_000;
    this.#most = burst;
    this.#tokens = burst;
    this.#at = clock.monotonic();
  }

  /** Whether there was one. */
  take(): boolean {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#most, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
