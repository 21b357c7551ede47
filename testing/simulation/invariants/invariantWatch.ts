import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../../kubernetes/api/checkShape.ts';
import { runsAsWanted } from './containers/runsAsWanted.ts';
import {
  type Hooks,
  type Invariant,
  InvariantViolated,
  invariantTitle,
  type Violation,
  type Watched,
} from './invariant.ts';
import { nothingLeft } from './progress/nothingLeft.ts';

type Hook = keyof Hooks;
type HookArguments<K extends Hook> = Parameters<NonNullable<Hooks[K]>>;

/** The invariants that decide whether a node is at rest, even if they are not among those to be checked. */
const AT_REST: readonly Invariant[] = [nothingLeft, runsAsWanted];

const hook = z.optional(functionSchema);

const HOOKS: { readonly [Each in Hook]-?: z.ZodMiniType } = {
  onCall: hook,
  onStatus: hook,
  onReport: hook,
  onEvent: hook,
  onAgentStarted: hook,
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
const FIRST_CHECK_STEPS = 10;
/** Maximum number of steps between whole checks. */
const MAX_CHECK_INTERVAL = 100;

/** Checks the invariants of a simulation. */
export class InvariantWatch {
  /** The listeners of each hook. Most invariants use few hooks. */
  readonly #listeners = new Map<Hook, ((...told: never[]) => void)[]>();
  readonly #position: () => Pick<Violation, 'step' | 'elapsed'>;
  #violations: Violation[] = [];
  /** Whether only the state of rest is being tested, without reporting violations. */
  #isTestingRest = false;
  /** The errors that invariants and fault plans have thrown. */
  #thrown: unknown[] = [];
  #nextCheck = FIRST_CHECK_STEPS;

  /** `position` returns the step and time of a violation that is detected now. */
  constructor(invariants: readonly Invariant[], watched: Watched, position: () => Pick<Violation, 'step' | 'elapsed'>) {
    this.#position = position;
    for (const each of new Set([...AT_REST, ...invariants])) {
      const isHeldTo = invariants.includes(each);
      const following = each.follow(watched, (message) => {
        if (isHeldTo || this.#isTestingRest) this.noteViolation(each, message);
      });
      checkShape(hooks, following, invariantTitle(each), 'what it follows');
      this.addHooks(following);
    }
  }

  /** Adds hooks that are not those of an invariant. */
  addHooks(following: Hooks): void {
    // An object of hooks has no other keys.
    for (const hook of Object.keys(following) as Hook[]) this.#add(hook, following[hook]);
  }

  /** Runs the whole checks if they are due after this many steps. */
  checkIfDue(steps: number): void {
    if (steps < this.#nextCheck) return;
    this.#nextCheck = steps + Math.min(steps, MAX_CHECK_INTERVAL);
    this.call('whole');
  }

  /** Records a violation. */
  noteViolation({ number, description }: Pick<Violation, 'number' | 'description'>, message: string): void {
    const violated = number === undefined ? { description: description ?? '' } : { number };
    this.#violations.push({ ...violated, message, ...this.#position() });
  }

  /** Calls a hook of all invariants. */
  call<K extends Hook>(hook: K, ...told: HookArguments<K>): void {
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
      this.noteError(error);
      return undefined;
    }
  }

  /** Records an error of the simulation itself. */
  noteError(error: unknown): void {
    this.#thrown.push(error);
  }

  /** Whether all conditions of a node at rest hold now. Does not report violations. */
  isAtRest(): boolean {
    const before = this.#violations;
    this.#violations = [];
    this.#isTestingRest = true;
    this.call('atRest');
    const isAtRest = this.#violations.length === 0;
    this.#isTestingRest = false;
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

  #add(hook: Hook, listener: Hooks[Hook]): void {
    if (listener === undefined) return;
    this.#listeners.set(hook, [...(this.#listeners.get(hook) ?? []), listener]);
  }
}
