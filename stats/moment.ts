/** Caches a value whose computation takes time. */

import type { Clock } from '../base/clock.ts';
import { unlessAborted } from '../base/unlessAborted.ts';

interface CachedValueOptions<T> {
  readonly compute: () => Promise<T>;
  readonly clock: Pick<Pick<Clock, 'now' | 'monotonic'>, 'monotonic'>;
}

/** Computes a value on demand, once for all concurrent requests, and caches it. */
export class CachedValue<T> {
  readonly #parts: CachedValueOptions<T>;
  #latest: { readonly value: T; readonly startedAt: number } | undefined;
  #inProgress: Promise<T> | undefined;

  constructor(parts: CachedValueOptions<T>) {
    this.#parts = parts;
  }

  /**
   * Returns a value whose computation started at most `maxAgeMs` ago. Aborting the signal does not stop the
   * computation, which other requests may share.
   */
  get(maxAgeMs: number, signal: AbortSignal): Promise<T> {
    const latest = this.latest(maxAgeMs);
    if (latest !== undefined) return Promise.resolve(latest);
    this.#inProgress ??= this.#compute().finally(() => {
      this.#inProgress = undefined;
    });
    return unlessAborted(this.#inProgress, signal);
  }

  /** Returns the cached value. Undefined if it is older than `maxAgeMs`. */
  latest(maxAgeMs: number): T | undefined {
    if (this.#latest === undefined || this.#parts.clock.monotonic() - this.#latest.startedAt >= maxAgeMs)
      return undefined;
    return this.#latest.value;
  }

  async #compute(): Promise<T> {
    const beganAt = this.#parts.clock.monotonic();
    const value = await this.#parts.compute();
    this.#latest = { value, startedAt: beganAt };
    return value;
  }
}
