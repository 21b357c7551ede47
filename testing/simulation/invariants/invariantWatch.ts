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

/** Invariants that decide whether a node is at rest, even if they are not among those being checked. */
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

/** Loose types, because programs without type checking may return anything. */
const hooks = z.looseObject(HOOKS);

/**
 * Number of steps before the first check of the whole node. The number of steps then doubles until the interval reaches
 * its maximum.
 */
const FIRST_CHECK_STEPS = 10;
/** Maximum number of steps between two checks of the whole node. */
const MAX_CHECK_INTERVAL = 100;

/** Checks the invariants of a simulation. */
export class InvariantWatch {
  /** Listeners by hook, because most invariants use only a few hooks. */
  readonly #listeners = new Map<Hook, ((...args: never[]) => void)[]>();
  readonly #position: () => Pick<Violation, 'step' | 'elapsed'>;
  #violations: Violation[] = [];
  /** Whether only the conditions of a node at rest are being tested, without reporting violations. */
  #isTestingRest = false;
  /** Errors thrown by invariants and fault plans. */
  #thrown: unknown[] = [];
  #nextCheck = FIRST_CHECK_STEPS;

  /** `position` returns the step and time of a violation that is detected now. */
  constructor(invariants: readonly Invariant[], watched: Watched, position: () => Pick<Violation, 'step' | 'elapsed'>) {
    this.#position = position;
    for (const each of new Set([...AT_REST, ...invariants])) {
      const isChecked = invariants.includes(each);
      const ownHooks = each.follow(watched, (message) => {
        if (isChecked || this.#isTestingRest) this.noteViolation(each, message);
      });
      checkShape(hooks, ownHooks, invariantTitle(each), 'its hooks');
      this.addHooks(ownHooks);
    }
  }

  /** Adds hooks, which need not belong to an invariant. */
  addHooks(newHooks: Hooks): void {
    // Safe cast: an object of hooks has no other keys.
    for (const hook of Object.keys(newHooks) as Hook[]) this.#add(hook, newHooks[hook]);
  }

  /** Checks the whole node if that is due after this many steps. */
  checkIfDue(steps: number): void {
    if (steps < this.#nextCheck) return;
    this.#nextCheck = steps + Math.min(steps, MAX_CHECK_INTERVAL);
    this.call('whole');
  }

  noteViolation({ number, description }: Pick<Violation, 'number' | 'description'>, message: string): void {
    const violated = number === undefined ? { description: description ?? '' } : { number };
    this.#violations.push({ ...violated, message, ...this.#position() });
  }

  /** Calls the listeners of a hook. */
  call<K extends Hook>(hook: K, ...args: HookArguments<K>): void {
    // Safe cast: each listener was added for this hook, so its parameters match.
    for (const listener of this.#listeners.get(hook) ?? []) this.run(() => listener(...(args as never[])));
  }

  /**
   * Runs code of the caller's program and records its errors. An error thrown within a call would look to the agent
   * like a failure of that call.
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

  /** Whether all conditions of a node at rest hold now, without reporting violations. */
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
