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
  /** The object of the call, e.g. an ID or a path. */
  readonly about: string;
  /** Whether the call changes something outside the agent. */
  readonly writes: boolean;
  /** The grace period that the call passes, in seconds. */
  readonly graceSeconds?: number;
}

/** The fault that a call meets. */
export type CallFault =
  /**
   * The call fails without an effect. `code` selects the error. A code of a different room is mapped to one of this
   * room, and an unknown code is a `TypeError`. With `inPart`, a call that can be interrupted halfway has done a part
   * of its work.
   */
  | { readonly kind: 'fail'; readonly code?: string; readonly inPart?: boolean }
  /** The call takes effect, but fails nevertheless. */
  | { readonly kind: 'lostReply'; readonly code?: string }
  /** The call has no effect until the faults end or the caller gives up. */
  | { readonly kind: 'hang' }
  /** The call takes effect `ms` milliseconds late. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The agent dies before the call takes effect, halfway through it, or before the response arrives. */
  | { readonly kind: 'death'; readonly when: 'before' | 'during' | 'after' };

/**
 * Decides which fault a call meets. Undefined if it meets none. `elapsed` is the time of the call in milliseconds of
 * node time.
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
  /** Undoes the call if the caller never receives the result, and so could not undo it. */
  readonly undo?: (answer: T) => void;
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
  /** Called with each call before it takes effect. */
  readonly onCall: (call: OutsideCall, fault: CallFault | undefined) => void;
  readonly onAgentDied: () => void;
}

/** The share of calls that other calls overtake, and the longest delay of an overtaken call. */
const OVERTAKEN_SHARE = 0.15;
const MAX_DELAY_MS = 3;

/** The way of one agent to the outside. After `close`, no call leaves or returns. */
export class Gate {
  readonly #parts: GateParts;
  #isClosed = false;
  /** Aborts the pending calls on the side of the outside. */
  readonly #callControllers = new Set<AbortController>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Aborts pending calls if `cutsCalls` is true. Otherwise the outside completes them. */
  close({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#isClosed = true;
    const heard = [...this.#callControllers];
    this.#callControllers.clear();
    if (cutsCalls) for (const each of heard) each.abort(new Error('the agent has died'));
  }

  /**
   * Runs `act` with a signal of the outside's side of a call. The caller's abort reaches it only while the agent lives,
   * but `close` can abort it.
   */
  withCallSignal<T>(signal: AbortSignal, act: (heard: AbortSignal) => Promise<T>): Promise<T> {
    const heard = new AbortController();
    const abort = () => void (this.#isClosed || heard.abort(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    this.#callControllers.add(heard);
    const answer = act(heard.signal);
    const forget = () => void this.#callControllers.delete(heard);
    answer.then(forget, forget);
    return answer;
  }

  async pass<T>(call: OutsideCall, passing: CallImplementation<T>): Promise<T> {
    if (this.#isClosed) return never();
    const fault = this.#faultOf(call);
    const [before, after] = this.#delays(call);
    if (before > 0) await this.#wait(before);
    if (fault !== undefined) await this.#applyBefore(fault, passing);
    if (this.#isClosed) return never();
    const answer = await this.#call(passing.act, fault);
    if (after > 0) await this.#wait(after);
    if (fault !== undefined) this.#applyAfter(fault, passing.failure);
    return this.#isClosed ? never() : answer;
  }

  /** Passes a synchronous call, which can neither hang nor be late. */
  passSync<T>(call: OutsideCall, { act, failure, undo }: SyncCallImplementation<T>): T {
    if (this.#isClosed) return act();
    const fault = this.#faultOf(call);
    if (fault?.kind === 'fail') throw failure(fault.code);
    // A failure of the call does not matter, because its caller is dead.
    if (fault?.kind === 'death') this.#die();
    const answer = act();
    if (fault?.kind === 'lostReply') undo?.(answer);
    if (fault !== undefined) this.#applyAfter(fault, failure);
    return answer;
  }

  #faultOf(call: OutsideCall): CallFault | undefined {
    const { plan, nextIndex, onCall } = this.#parts;
    const fault = plan(call, nextIndex());
    onCall(call, fault);
    return fault;
  }

  /** Returns the delay in milliseconds before a call takes effect, and that before it returns. */
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
