/** A cache whose entries expire. When it is full, it evicts the least recently used entry. */
import type { Clock } from '../../base/time/clock.ts';

interface CacheEntry<T> {
  readonly value: T;
  /** Monotonic time in milliseconds. */
  readonly expiresAt: number;
}

export class ExpiringCache<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #maxSize: number;
  /** Entries in the order of their last use, least recent first. */
  readonly #entries = new Map<string, CacheEntry<T>>();

  constructor(clock: Pick<Clock, 'monotonic'>, maxSize: number) {
    this.#clock = clock;
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached value in a wrapper object, because the value itself may be undefined. Returns undefined if there
   * is no valid entry.
   */
  get(key: string): { readonly value: T } | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (this.#clock.monotonic() >= entry.expiresAt) return undefined;
    this.#entries.set(key, entry);
    return entry;
  }

  /** Stores a value that expires after `ms` milliseconds. If `ms` is 0, the value is not stored. */
  set(key: string, value: T, ms: number): void {
    this.#entries.delete(key);
    if (ms <= 0) return;
    this.#entries.set(key, { value, expiresAt: this.#clock.monotonic() + ms });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxSize && oldest !== undefined) this.#entries.delete(oldest);
  }
}
