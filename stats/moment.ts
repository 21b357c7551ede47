/** Something that takes a while to find out, and holds for a while. */
import { unlessAborted } from '../base/unlessAborted.ts';
import type { StatsClock } from './statsClock.ts';

interface MomentParts<T> {
  readonly make: () => Promise<T>;
  readonly clock: Pick<StatsClock, 'monotonic'>;
}

/** Finds it out once for all who ask meanwhile, and keeps the latest. */
export class Moment<T> {
  readonly #parts: MomentParts<T>;
  #latest: { readonly value: T; readonly beganAt: number } | undefined;
  #underway: Promise<T> | undefined;

  constructor(parts: MomentParts<T>) {
    this.#parts = parts;
  }

  /** One that was begun so many milliseconds ago at most; whoever does not wait any more leaves it to the others. */
  get(maxAgeMs: number, signal: AbortSignal): Promise<T> {
    const latest = this.latest(maxAgeMs);
    if (latest !== undefined) return Promise.resolve(latest);
    this.#underway ??= this.#make().finally(() => {
      this.#underway = undefined;
    });
    return unlessAborted(this.#underway, signal);
  }

  /** The last that was found out, if it is no older. */
  latest(maxAgeMs: number): T | undefined {
    if (this.#latest === undefined || this.#parts.clock.monotonic() - this.#latest.beganAt >= maxAgeMs)
      return undefined;
    return this.#latest.value;
  }

  async #make(): Promise<T> {
    const beganAt = this.#parts.clock.monotonic();
    const value = await this.#parts.make();
    this.#latest = { value, beganAt };
    return value;
  }
}
