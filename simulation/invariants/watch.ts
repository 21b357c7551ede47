import { type Following, type Invariant, InvariantViolated, type Violation, type Watched } from './invariant.ts';

/** Holds a simulation to its invariants. */
export class InvariantWatch {
  readonly #invariants: readonly Invariant[];
  readonly #watched: Watched;
  readonly #following: readonly Following[];
  readonly #violations: Violation[] = [];

  /** `moment` is when something is violated that is found now. */
  constructor(invariants: readonly Invariant[], watched: Watched, moment: () => Pick<Violation, 'step' | 'elapsed'>) {
    this.#invariants = invariants;
    this.#watched = watched;
    this.#following = invariants.map(({ number, follow }) =>
      follow(watched, (message) => void this.#violations.push({ number, message, ...moment() })),
    );
  }

  /** Lets all invariants hear of something. */
  tell(tell: (following: Following) => void): void {
    for (const following of this.#following) tell(following);
  }

  /** Whether all that is asked of a node at rest holds now; nothing is violated yet where it does not. */
  isAtRest(): boolean {
    const found: string[] = [];
    for (const { follow } of this.#invariants) follow(this.#watched, (message) => void found.push(message)).atRest?.();
    return found.length === 0;
  }

  /** Throws an `InvariantViolated` where one was violated. */
  throwFirst(): void {
    const [first] = this.#violations.splice(0);
    if (first !== undefined) throw new InvariantViolated(first);
  }
}
