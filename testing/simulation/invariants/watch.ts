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

type Hook = keyof Following;
type Told<K extends Hook> = Parameters<NonNullable<Following[K]>>;

/** The invariants that decide whether a node is at rest, even if they are not among those to be checked. */
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

/** Programs that are not type-checked may return anything. */
const hooks = z.looseObject(HOOKS);

/** The first whole check is after this many steps, and each next one after twice as many. */
const FIRST_WHOLE = 10;
/** Maximum number of steps between whole checks. */
const WHOLE_EVERY = 100;

/** Checks the invariants of a simulation. */
export class InvariantWatch {
  /** The listeners of each hook. Most invariants use few hooks. */
  readonly #listeners = new Map<Hook, ((...told: never[]) => void)[]>();
  readonly #moment: () => Pick<Violation, 'step' | 'elapsed'>;
  #violations: Violation[] = [];
  /** Whether only the state of rest is being tested, without reporting violations. */
  #isLooking = false;
  /** The errors that invariants and fault plans have thrown. */
  #thrown: unknown[] = [];
  #nextWhole = FIRST_WHOLE;

  /** `moment` returns the step and time of a violation that is detected now. */
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

  /** Adds hooks that are not those of an invariant. */
  listen(following: Following): void {
    // An object of hooks has no other keys.
    for (const hook of Object.keys(following) as Hook[]) this.#add(hook, following[hook]);
  }

  /** Runs the whole checks if they are due after this many steps. */
  lookAtWhole(steps: number): void {
    if (steps < this.#nextWhole) return;
    this.#nextWhole = steps + Math.min(steps, WHOLE_EVERY);
    this.tell('whole');
  }

  /** Records a violation. */
  violated({ number, says }: Pick<Violation, 'number' | 'says'>, message: string): void {
    const violated = number === undefined ? { says: says ?? '' } : { number };
    this.#violations.push({ ...violated, message, ...this.#moment() });
  }

  /** Calls a hook of all invariants. */
  tell<K extends Hook>(hook: K, ...told: Told<K>): void {
    // Each listener was added for the hook with these arguments.
    for (const listener of this.#listeners.get(hook) ?? []) this.run(() => listener(...(told as never[])));
  }

  /**
   * Runs code of the caller's program. An error thrown within a call would look like a failure of the call to the
   * agent.
   */
  run<T>(code: () => T): T | undefined {
    try {
      return code();
    } catch (error) {
      this.thrown(error);
      return undefined;
    }
  }

  /** Records an error of the simulation itself. */
  thrown(error: unknown): void {
    this.#thrown.push(error);
  }

  /** Whether all conditions of a node at rest hold now. Does not report violations. */
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

  /** Throws a recorded error, or an `InvariantViolated` with the first violation. */
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
