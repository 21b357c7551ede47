/** Answers that hold for a while: no more than so many, of which those go first that nobody has asked for longest. */
import type { Clock } from '../../kubeclient/clock.ts';

interface Held<T> {
  readonly value: T;
  /** In milliseconds of the monotonic clock. */
  readonly until: number;
}

export class ExpiringCache<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #most: number;
  /** In the order in which they were asked for last. */
  readonly #held = new Map<string, Held<T>>();

  constructor(clock: Pick<Clock, 'monotonic'>, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  get size(): number {
    return this.#held.size;
  }

  /** In an object of its own, as a value may be undefined itself; undefined where there is none that still holds. */
  get(key: string): { readonly value: T } | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    if (this.#clock.monotonic() >= held.until) return undefined;
    this.#held.set(key, held);
    return held;
  }

  /** Keeps it for so many milliseconds; 0 keeps nothing. */
  set(key: string, value: T, ms: number): void {
    this.#held.delete(key);
    if (ms <= 0) return;
    this.#held.set(key, { value, until: this.#clock.monotonic() + ms });
    const [oldest] = this.#held.keys();
    if (this.#held.size > this.#most && oldest !== undefined) this.#held.delete(oldest);
  }
}
