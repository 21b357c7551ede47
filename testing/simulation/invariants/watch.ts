import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../../kubernetes/api/checkShape.ts';
import { asWanted } from './asWanted.ts';
import {
  type Following,
  type Invariant,
  InvariantViolated,
  invariantTitle,
  type Violation,
  type Watched,
} from './invariant.ts';
import { nothingLeft } from './nothingLeft.ts';

/** What invariants hear of, and what they are told then. */
type Hook = keyof Following;
type Told<K extends Hook> = Parameters<NonNullable<Following[K]>>;

/** What tells that a node is at rest, also where it is not held to that. */
const AT_REST: readonly Invariant[] = [nothingLeft, asWanted];

const hook = z.optional(functionSchema);

const HOOKS: { readonly [Each in Hook]-?: z.ZodMiniType } = {
  onCall: hook,
  onStatus: hook,
  onReport: hook,
  onEvent: hook,
  onLifeBegan: hook,
  onEffect: hook,
  onEntry: hook,
  onTransition: hook,
  beforeJump: hook,
  afterStep: hook,
  whole: hook,
  atRest: hook,
  settled: hook,
};

/** Invariants of programs that are not type-checked may follow anything. */
const hooks = z.looseObject(HOOKS);

/** The whole is looked at after so many steps first, in time for short stories, and then after twice as many as before. */
const FIRST_WHOLE = 10;
/** It is looked at so often at least, in steps. */
const WHOLE_EVERY = 100;

/** Holds a simulation to its invariants. */
export class InvariantWatch {
  /** Who listens to what: most hear of little, and much happens. */
  readonly #listeners = new Map<Hook, ((...told: never[]) => void)[]>();
  readonly #moment: () => Pick<Violation, 'step' | 'elapsed'>;
  #violations: Violation[] = [];
  /** Whether it is only looked whether the node is at rest. */
  #isLooking = false;
  /** What invariants and fault plans have thrown. */
  #thrown: unknown[] = [];
  #nextWhole = FIRST_WHOLE;

  /** `moment` is when something is violated that is found now. */
  constructor(invariants: readonly Invariant[], watched: Watched, moment: () => Pick<Violation, 'step' | 'elapsed'>) {
    this.#moment = moment;
    for (const each of new Set([...AT_REST, ...invariants])) {
      const isHeldTo = invariants.includes(each);
      const following = each.follow(watched, (message) => {
        if (isHeldTo || this.#isLooking) this.violated(each, message);
      });
      checkShape(hooks, following, invariantTitle(each), 'what it follows');
      this.listen(following);
    }
  }

  /** Lets somebody else hear of what invariants do. */
  listen(following: Following): void {
    // An object of hooks has no other keys.
    for (const hook of Object.keys(following) as Hook[]) this.#add(hook, following[hook]);
  }

  /** Lets all invariants look at the whole, if it is time for that after so many steps. */
  lookAtWhole(steps: number): void {
    if (steps < this.#nextWhole) return;
    this.#nextWhole = steps + Math.min(steps, WHOLE_EVERY);
    this.tell('whole');
  }

  /** Notes that an invariant does not hold. */
  violated({ number, says }: Pick<Violation, 'number' | 'says'>, message: string): void {
    const violated = number === undefined ? { says: says ?? '' } : { number };
    this.#violations.push({ ...violated, message, ...this.#moment() });
  }

  /** Lets all invariants hear of something. */
  tell<K extends Hook>(hook: K, ...told: Told<K>): void {
    // Each was added under the hook whose arguments it takes.
    for (const listener of this.#listeners.get(hook) ?? []) this.run(() => listener(...(told as never[])));
  }

  /** Runs code of whoever simulates: within a call, the agent would take what it throws for a failure of the call. */
  run<T>(code: () => T): T | undefined {
    try {
      return code();
    } catch (error) {
      this.thrown(error);
      return undefined;
    }
  }

  /** Notes what is wrong with the simulation itself. */
  thrown(error: unknown): void {
    this.#thrown.push(error);
  }

  /** Whether all that is asked of a node at rest holds now; nothing is violated yet where it does not. */
  isAtRest(): boolean {
    const before = this.#violations;
    this.#violations = [];
    this.#isLooking = true;
    this.tell('atRest');
    const isAtRest = this.#violations.length === 0;
    this.#isLooking = false;
    this.#violations = before;
    return isAtRest;
  }

  /** Throws an `InvariantViolated` where one was violated, or what was thrown where nobody could catch it. */
  throwFirst(): void {
    const [thrown] = this.#thrown;
    this.#thrown = [];
    if (thrown !== undefined) throw thrown;
    const [first] = this.#violations;
    if (first === undefined) return;
    this.#violations = [];
    throw new InvariantViolated(first);
  }

  #add(hook: Hook, listener: Following[Hook]): void {
    if (listener === undefined) return;
    this.#listeners.set(hook, [...(this.#listeners.get(hook) ?? []), listener]);
  }
}
