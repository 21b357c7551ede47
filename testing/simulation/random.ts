/** The random numbers of a simulation, which depend on the seed alone. */
import { seededRandom } from '../../cri/simulated/objects/ids.ts';

/** The number of different seeds. */
const SEED_COUNT = 2 ** 32;

/** Throws a `RangeError` if `seed` is not in the valid range, because several values would then be the same seed. */
export function checkSeed(seed: number): void {
  if (Number.isInteger(seed) && seed >= 0 && seed < SEED_COUNT) return;
  throw new RangeError(`a seed is a whole number from 0 to ${SEED_COUNT - 1}`);
}

/** Returns the seed that follows `by` places after this one. The first seed follows the last. */
export const nextSeed = (seed: number, by = 1): number => (seed + by) % SEED_COUNT;

export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** Returns a number in [0, 1). */
  readonly fraction = (): number => this.#next();

  /** Returns a whole number from `least` to `most`, both inclusive. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** Returns true with the probability `likelihood`. */
  chance(likelihood: number): boolean {
    return this.#next() < likelihood;
  }

  pick<T>(from: readonly T[]): T {
    const item = from[Math.floor(this.#next() * from.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  /** Returns at most `most` different items. */
  sample<T>(from: Iterable<T>, most: number): T[] {
    const left = [...from];
    const drawn: T[] = [];
    while (drawn.length < most && left.length > 0) drawn.push(...left.splice(this.between(0, left.length - 1), 1));
    return drawn;
  }

  /** Returns an independent generator, whose numbers do not depend on later draws of this one. */
  fork(): Random {
    return new Random(Math.floor(this.#next() * SEED_COUNT));
  }
}
