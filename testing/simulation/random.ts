/** Everything that is left to chance in a simulation: numbers that the seed alone decides. */
import { seededRandom } from '../../cri/simulated/objects/ids.ts';

/** So many seeds differ: the whole numbers below. */
const SEEDS = 2 ** 32;

/** Of other numbers several would be one seed. */
export function checkSeed(seed: number): void {
  if (Number.isInteger(seed) && seed >= 0 && seed < SEEDS) return;
  throw new RangeError(`a seed is a whole number from 0 to ${SEEDS - 1}`);
}

/** The seed so many after this one; the first comes after the last. */
export const nextSeed = (seed: number, by = 1): number => (seed + by) % SEEDS;

export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** At least 0 and less than 1. */
  readonly fraction = (): number => this.#next();

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** True so many times out of one. */
  chance(likelihood: number): boolean {
    return this.#next() < likelihood;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.#next() * from.length)];
    if (found === undefined) throw new RangeError('there is nothing to pick from');
    return found;
  }

  /** So many different ones, or all where there are no more. */
  some<T>(from: Iterable<T>, most: number): T[] {
    const left = [...from];
    const drawn: T[] = [];
    while (drawn.length < most && left.length > 0) drawn.push(...left.splice(this.between(0, left.length - 1), 1));
    return drawn;
  }

  /** Numbers of their own, which nothing that is drawn elsewhere changes. */
  fork(): Random {
    return new Random(Math.floor(this.#next() * SEEDS));
  }
}
