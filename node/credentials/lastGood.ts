import { messageOf } from '../../base/failure.ts';

/** Stores the last valid value, for use while newer values are invalid. */
export class LastGood<T> {
  readonly #onProblem: (problem: string) => void;
  #value: T | undefined;
  /** The problem that has been reported. Undefined after a successful read. */
  #reportedProblem: string | undefined;

  constructor(onProblem: (problem: string) => void) {
    this.#onProblem = onProblem;
  }

  get value(): T | undefined {
    return this.#value;
  }

  /**
   * Reads the value. If that fails, reports the problem once and returns the last valid value. Rejects if there is
   * none.
   */
  async read(readValue: () => Promise<T>): Promise<T> {
    try {
      const value = await readValue();
      this.#value = value;
      this.#reportedProblem = undefined;
      return value;
    } catch (error) {
      if (this.#value === undefined) throw error;
      const problem = messageOf(error);
      if (problem !== this.#reportedProblem)
        this.#onProblem(`${problem}; the previous version is used until this is fixed`);
      this.#reportedProblem = problem;
      return this.#value;
    }
  }
}
