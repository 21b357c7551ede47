/** Caches a value that is expensive to compute. */

import { unlessAborted } from '../base/async/unlessAborted.ts';
import type { Clock } from '../base/time/clock.ts';

interface CachedValueOptions<T> {
  readonly computeValue: () => Promise<T>;
  readonly clock: Pick<Pick<Clock, 'now' | 'monotonic'>, 'monotonic'>;
}

/** Computes a value on demand, once for all concurrent requests, and caches it. */
export class CachedValue<T> {
  readonly #options: CachedValueOptions<T>;
  #cachedResult: { readonly value: T; readonly startedAt: number } | undefined;
  #computation: Promise<T> | undefined;

  constructor(options: CachedValueOptions<T>) {
    this.#options = options;
  }

  /**
   * Returns a value whose computation started at most `maxAgeMs` ago. Aborting the signal does not stop the
   * computation, which other requests may share.
   */
  get(maxAgeMs: number, signal: AbortSignal): Promise<T> {
    const cachedValue = this.getCached(maxAgeMs);
    if (cachedValue !== undefined) return Promise.resolve(cachedValue);
    this.#computation ??= this.#computeAndCache().finally(() => {
      this.#computation = undefined;
    });
    return unlessAborted(this.#computation, signal);
  }

  /** Returns the cached value. Undefined if it is older than `maxAgeMs`. */
  getCached(maxAgeMs: number): T | undefined {
    if (this.#cachedResult === undefined || this.#options.clock.monotonic() - this.#cachedResult.startedAt >= maxAgeMs)
      return undefined;
    return this.#cachedResult.value;
  }

  async #computeAndCache(): Promise<T> {
    const startedAt = this.#options.clock.monotonic();
    const value = await this.#options.computeValue();
    this.#cachedResult = { value, startedAt };
    return value;
  }
}
