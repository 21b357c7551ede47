/** The gate that each call to the outside passes. It counts the calls and injects their faults. */
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../random.ts';

/** The targets of the calls of every node. */
export const HOST_ROOMS = ['runtime', 'disk', 'mounts', 'cgroups', 'network', 'sink'] as const;
/** A node of a cluster also calls its API server. */
export const ROOMS = [...HOST_ROOMS, 'api'] as const;
export type Room = (typeof ROOMS)[number];

export interface OutsideCall {
  readonly room: Room;
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
export type Fate =
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
export type FaultPlan = (call: OutsideCall, index: number, elapsed: number) => Fate | undefined;

/** The implementation of a call. */
export interface Passing<T> {
  readonly act: () => T | Promise<T>;
  /** Returns the error of a failed call. */
  readonly failure: (code: string | undefined) => unknown;
  /** Does a part of the call, if that is possible. */
  readonly partly?: (() => Promise<unknown>) | undefined;
  /** Aborts the caller's wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The implementation of a synchronous call. */
interface PassingNow<T> extends Pick<Passing<T>, 'failure'> {
  readonly act: () => T;
  /** Undoes the call if the caller never receives the result, and so could not undo it. */
  readonly undo?: (answer: T) => void;
}

export interface GateParts {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly plan: (call: OutsideCall, index: number) => Fate | undefined;
  /** Draws which calls are overtaken by others. If undefined, calls return in order. */
  readonly overtakes?: Random | undefined;
  /** Resolves when faults have ended. */
  readonly faultsEnded: () => Promise<void>;
  /** Returns the index of the next call, counted over all agents. */
  readonly nextIndex: () => number;
  /** Called with each call before it takes effect. */
  readonly onCall: (call: OutsideCall, fate: Fate | undefined) => void;
  readonly onDeath: () => void;
}

/** The share of calls that other calls overtake, and the longest delay of an overtaken call. */
const OVERTAKEN = 0.15;
const OVERTAKEN_MS = 3;

/** The way of one agent to the outside. After `close`, no call leaves or returns. */
export class Gate {
  readonly #parts: GateParts;
  #isClosed = false;
  /** Aborts the pending calls on the side of the outside. */
  readonly #heard = new Set<AbortController>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** With `cutsCalls`, pending calls are aborted. Otherwise the outside completes them. */
  close({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#isClosed = true;
    const heard = [...this.#heard];
    this.#heard.clear();
    if (cutsCalls) for (const each of heard) each.abort(new Error('the agent has died'));
  }

  /**
   * Runs `act` with a signal of the outside's side of a call. The caller's abort reaches it only while the agent lives,
   * but `close` can abort it.
   */
  heard<T>(signal: AbortSignal, act: (heard: AbortSignal) => Promise<T>): Promise<T> {
    const heard = new AbortController();
    const abort = () => void (this.#isClosed || heard.abort(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    this.#heard.add(heard);
    const answer = act(heard.signal);
    const forget = () => void this.#heard.delete(heard);
    answer.then(forget, forget);
    return answer;
  }

  async pass<T>(call: OutsideCall, passing: Passing<T>): Promise<T> {
    if (this.#isClosed) return never();
    const fate = this.#fateOf(call);
    const [before, after] = this.#overtaken(call);
    if (before > 0) await this.#wait(before);
    if (fate !== undefined) await this.#before(fate, passing);
    if (this.#isClosed) return never();
    const answer = await this.#done(passing.act, fate);
    if (after > 0) await this.#wait(after);
    if (fate !== undefined) this.#after(fate, passing.failure);
    return this.#isClosed ? never() : answer;
  }

  /** Passes a synchronous call, which can neither hang nor be late. */
  passNow<T>(call: OutsideCall, { act, failure, undo }: PassingNow<T>): T {
    if (this.#isClosed) return act();
    const fate = this.#fateOf(call);
    if (fate?.kind === 'fail') throw failure(fate.code);
    // A failure of the call does not matter, because its caller is dead.
    if (fate?.kind === 'death') this.#die();
    const answer = act();
    if (fate?.kind === 'lostReply') undo?.(answer);
    if (fate !== undefined) this.#after(fate, failure);
    return answer;
  }

  #fateOf(call: OutsideCall): Fate | undefined {
    const { plan, nextIndex, onCall } = this.#parts;
    const fate = plan(call, nextIndex());
    onCall(call, fate);
    return fate;
  }

  /** Returns the delay in milliseconds before a call takes effect, and that before it returns. */
  #overtaken({ room }: OutsideCall): readonly [number, number] {
    const { overtakes } = this.#parts;
    // Calls to the runtime have their own latencies.
    if (overtakes === undefined || room === 'runtime' || !overtakes.chance(OVERTAKEN)) return [0, 0];
    const ms = overtakes.between(1, OVERTAKEN_MS);
    return overtakes.chance(0.5) ? [ms, 0] : [0, ms];
  }

  async #before(fate: Fate, { failure, signal, partly }: Passing<unknown>): Promise<void> {
    if ((fate.kind === 'fail' && fate.inPart) || (fate.kind === 'death' && fate.when === 'during')) await partly?.();
    if (fate.kind === 'fail') throw failure(fate.code);
    if (fate.kind === 'death' && fate.when !== 'after') this.#die();
    if (fate.kind === 'hang') await untilAborted(this.#parts.faultsEnded(), signal);
    if (fate.kind === 'late') await untilAborted(this.#wait(fate.ms), signal);
  }

  #after(fate: Fate, failure: Passing<unknown>['failure']): void {
    if (fate.kind === 'lostReply') throw failure(fate.code);
    if (fate.kind === 'death') this.#die();
  }

  /** Kills this agent if it is still alive. Otherwise a different agent may be running by now. */
  #die(): void {
    if (!this.#isClosed) this.#parts.onDeath();
  }

  /** Calls `act`. If the agent has died, an error is dropped, because no caller is left. */
  async #done<T>(act: () => T | Promise<T>, fate: Fate | undefined): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (fate?.kind === 'death') this.#die();
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
