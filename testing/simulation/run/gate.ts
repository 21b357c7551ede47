/** The gate that each call to the outside passes. It counts the calls and injects their faults. */
import type { Clock } from '../../../base/time/clock.ts';
import type { Random } from '../random.ts';

/** The targets of the calls of every node. */
export const HOST_TARGETS = ['runtime', 'disk', 'mounts', 'cgroups', 'network', 'sink'] as const;
/** A node of a cluster also calls its API server and the drivers of resource claims. */
export const CALL_TARGETS = [...HOST_TARGETS, 'api', 'drivers'] as const;
export type CallTarget = (typeof CALL_TARGETS)[number];

export interface OutsideCall {
  readonly target: CallTarget;
  /** The name of the call, e.g. `startContainer` or `fsync`. */
  readonly name: string;
  /** The object of the call, e.g. a container ID or a path. */
  readonly about: string;
  /** Whether the call changes something outside the agent. */
  readonly writes: boolean;
  /** The grace period that the call passes, in seconds. */
  readonly graceSeconds?: number;
}

/** The fault of a call. */
export type CallFault =
  /**
   * The call fails without an effect. `code` selects the error. A code that the target does not return is mapped to one
   * that it does, and a code that no target returns is a `TypeError`. With `inPart`, a call that can be interrupted
   * halfway has done a part of its work.
   */
  | { readonly kind: 'fail'; readonly code?: string; readonly inPart?: boolean }
  /** The call takes effect, but fails nevertheless. */
  | { readonly kind: 'lostReply'; readonly code?: string }
  /** The call hangs without an effect until the faults end or the caller aborts it. */
  | { readonly kind: 'hang' }
  /** The call takes effect `ms` milliseconds late. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The agent dies before the call takes effect, halfway through it, or before the response arrives. */
  | { readonly kind: 'death'; readonly when: 'before' | 'during' | 'after' };

/**
 * Returns the fault of a call, or undefined if it has none. `index` counts the calls of all agents, and `elapsed` is
 * the time of the call in milliseconds of node time.
 */
export type FaultPlan = (call: OutsideCall, index: number, elapsed: number) => CallFault | undefined;

/** The implementation of a call. */
export interface CallImplementation<T> {
  readonly act: () => T | Promise<T>;
  /** Returns the error of a failed call. */
  readonly failure: (code: string | undefined) => unknown;
  /** Does a part of the call, if that is possible. */
  readonly actPartly?: (() => Promise<unknown>) | undefined;
  /** Aborts the caller's wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The implementation of a synchronous call. */
interface SyncCallImplementation<T> extends Pick<CallImplementation<T>, 'failure'> {
  readonly act: () => T;
  /** Undoes the call if the caller never receives the result and therefore cannot undo it. */
  readonly undo?: (result: T) => void;
}

export interface GateParts {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly plan: (call: OutsideCall, index: number) => CallFault | undefined;
  /** Draws which calls are overtaken by others. If undefined, calls return in order. */
  readonly overtakes?: Random | undefined;
  /** Resolves when faults have ended. */
  readonly faultsEnded: () => Promise<void>;
  /** Returns the index of the next call, counted over all agents. */
  readonly nextIndex: () => number;
  /** Called before each call takes effect. */
  readonly onCall: (call: OutsideCall, fault: CallFault | undefined) => void;
  readonly onAgentDied: () => void;
}

/** Share of calls that other calls overtake, and maximum delay of an overtaken call. */
const OVERTAKEN_SHARE = 0.15;
const MAX_DELAY_MS = 3;

/** The connection of one agent to the outside. After `close`, no call leaves or returns. */
export class Gate {
  readonly #parts: GateParts;
  #isClosed = false;
  /** Abort the pending calls as the called side sees them. */
  readonly #callControllers = new Set<AbortController>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closes the gate. With `cutsCalls`, pending calls are aborted. Otherwise the called side completes them. */
  close({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#isClosed = true;
    const controllers = [...this.#callControllers];
    this.#callControllers.clear();
    if (cutsCalls) for (const each of controllers) each.abort(new Error('the agent has died'));
  }

  /**
   * Runs a call with the signal that the called side sees. An abort by the caller reaches it only while the agent
   * lives. `close` may abort it as well.
   */
  withCallSignal<T>(signal: AbortSignal, act: (callSignal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const abort = () => void (this.#isClosed || controller.abort(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    this.#callControllers.add(controller);
    const result = act(controller.signal);
    const forget = () => void this.#callControllers.delete(controller);
    result.then(forget, forget);
    return result;
  }

  async pass<T>(call: OutsideCall, implementation: CallImplementation<T>): Promise<T> {
    if (this.#isClosed) return never();
    const fault = this.#faultOf(call);
    const [before, after] = this.#delays(call);
    if (before > 0) await this.#wait(before);
    if (fault !== undefined) await this.#applyBefore(fault, implementation);
    if (this.#isClosed) return never();
    const result = await this.#call(implementation.act, fault);
    if (after > 0) await this.#wait(after);
    if (fault !== undefined) this.#applyAfter(fault, implementation.failure);
    return this.#isClosed ? never() : result;
  }

  /** Passes a synchronous call, which can neither hang nor be late. */
  passSync<T>(call: OutsideCall, { act, failure, undo }: SyncCallImplementation<T>): T {
    if (this.#isClosed) return act();
    const fault = this.#faultOf(call);
    if (fault?.kind === 'fail') throw failure(fault.code);
    // An error of the call does not matter, because its caller is dead.
    if (fault?.kind === 'death') this.#die();
    const result = act();
    if (fault?.kind === 'lostReply') undo?.(result);
    if (fault !== undefined) this.#applyAfter(fault, failure);
    return result;
  }

  #faultOf(call: OutsideCall): CallFault | undefined {
    const { plan, nextIndex, onCall } = this.#parts;
    const fault = plan(call, nextIndex());
    onCall(call, fault);
    return fault;
  }

  /** Returns the delays in milliseconds before a call takes effect and before it returns. */
  #delays({ target }: OutsideCall): readonly [number, number] {
    const { overtakes } = this.#parts;
    // Calls to the runtime have their own latencies.
    if (overtakes === undefined || target === 'runtime' || !overtakes.chance(OVERTAKEN_SHARE)) return [0, 0];
    const ms = overtakes.between(1, MAX_DELAY_MS);
    return overtakes.chance(0.5) ? [ms, 0] : [0, ms];
  }

  async #applyBefore(fault: CallFault, { failure, signal, actPartly }: CallImplementation<unknown>): Promise<void> {
    if ((fault.kind === 'fail' && fault.inPart) || (fault.kind === 'death' && fault.when === 'during'))
      await actPartly?.();
    if (fault.kind === 'fail') throw failure(fault.code);
    if (fault.kind === 'death' && fault.when !== 'after') this.#die();
    if (fault.kind === 'hang') await untilAborted(this.#parts.faultsEnded(), signal);
    if (fault.kind === 'late') await untilAborted(this.#wait(fault.ms), signal);
  }

  #applyAfter(fault: CallFault, failure: CallImplementation<unknown>['failure']): void {
    if (fault.kind === 'lostReply') throw failure(fault.code);
    if (fault.kind === 'death') this.#die();
  }

  /** Kills this agent if it is still alive. Otherwise a different agent may be running by now. */
  #die(): void {
    if (!this.#isClosed) this.#parts.onAgentDied();
  }

  /** Calls `act`. If the agent has died, an error is dropped, because no caller is left. */
  async #call<T>(act: () => T | Promise<T>, fault: CallFault | undefined): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (fault?.kind === 'death') this.#die();
      if (this.#isClosed) return never();
      throw error;
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.setTimeout(resolve, ms));
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** Resolves with the event, or rejects with the signal's reason if the signal aborts first. */
function untilAborted(event: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return event;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    event.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
