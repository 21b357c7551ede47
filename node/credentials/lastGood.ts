/** What was read last and was good, for as long as what is read now is not. */
import { messageOf } from '../../base/failure.ts';

export class LastGood<T> {
  readonly #onProblem: (problem: string) => void;
  #value: T | undefined;
  /** What was told, until it is over. */
  #told: string | undefined;

  constructor(onProblem: (problem: string) => void) {
    this.#onProblem = onProblem;
  }

  get value(): T | undefined {
    return this.#value;
  }

  /** Rejects where nothing was ever good; else what is wrong is told once. */
  async read(look: () => Promise<T>): Promise<T> {
    try {
      const value = await look();
      this.#value = value;
      this.#told = undefined;
      return value;
    } catch (error) {
      if (this.#value === undefined) throw error;
      const problem = messageOf(error);
      if (problem !== this.#told) this.#onProblem(`${problem}; what was read before is used until this is good`);
      this.#told = problem;
      return this.#value;
    }
  }
}
