/** The gate through which each call to the outside passes: here it is counted, and here it meets its fault. */
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../random.ts';

/** Where the calls of every node go to. */
export const HOST_ROOMS = ['runtime', 'disk', 'mounts', 'cgroups', 'network', 'sink'] as const;
/** Those of a node of a cluster go to its API server as well. */
export const ROOMS = [...HOST_ROOMS, 'api'] as const;
export type Room = (typeof ROOMS)[number];

export interface OutsideCall {
  readonly room: Room;
  /** What is called: `startContainer`, `fsync`. */
  readonly name: string;
  /** What it is about: an id, a path. */
  readonly about: string;
  /** Whether it changes something out there. */
  readonly writes: boolean;
  /** The grace that it gives, in seconds. */
  readonly graceSeconds?: number;
}

/** What becomes of a call. */
export type Fate =
  /**
   * It fails, and nothing was done; `code` is how, where its room knows several ways: one of another room stands for one of
   * these, and one that no room knows is a `TypeError`. `inPart`: of what can be done in part a part was done.
   */
  | { readonly kind: 'fail'; readonly code?: string; readonly inPart?: boolean }
  /** It is done, and fails all the same. */
  | { readonly kind: 'lostReply'; readonly code?: string }
  /** It is not done before the faults end, or the caller gives up. */
  | { readonly kind: 'hang' }
  /** It is done so many milliseconds late. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The agent dies with the call not made yet, in the middle of what can be done in part, or with the answer on its way. */
  | { readonly kind: 'death'; readonly when: 'before' | 'during' | 'after' };

/**
 * Decides what becomes of the calls; undefined: what was asked for. `elapsed` is when a call is made, in milliseconds of
 * node time.
 */
export type FaultPlan = (call: OutsideCall, index: number, elapsed: number) => Fate | undefined;

/** How a call is made. */
export interface Passing<T> {
  readonly act: () => T | Promise<T>;
  /** What it fails with. */
  readonly failure: (code: string | undefined) => unknown;
  /** Does a part of it, where it can be done in part. */
  readonly partly?: (() => Promise<unknown>) | undefined;
  /** Ends the wait of the caller. */
  readonly signal?: AbortSignal | undefined;
}

/** How a call is made that is answered on the spot. */
interface PassingNow<T> extends Pick<Passing<T>, 'failure'> {
  readonly act: () => T;
  /** Takes it back where the caller never gets the answer, and so could not end it. */
  readonly undo?: (answer: T) => void;
}

export interface GateParts {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly plan: (call: OutsideCall, index: number) => Fate | undefined;
  /** Draws which calls are overtaken by others; absent: all are answered as they come. */
  readonly overtakes?: Random | undefined;
  /** Resolves when faults have ended. */
  readonly faultsEnded: () => Promise<void>;
  /** Counts the calls of all lives. */
  readonly nextIndex: () => number;
  /** Told of each call before it is made. */
  readonly onCall: (call: OutsideCall, fate: Fate | undefined) => void;
  readonly onDeath: () => void;
}

/** So often a call is overtaken by others, and by those of so many milliseconds. */
const OVERTAKEN = 0.15;
const OVERTAKEN_MS = 3;

/** One agent's way to the outside: when it is closed no call goes out or comes back any more. */
export class Gate {
  readonly #parts: GateParts;
  #isClosed = false;
  /** What the outside hears of those who may give up a call that is under way. */
  readonly #heard = new Set<AbortController>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `cutsCalls`: what is under way is given up as well; else the outside goes on with it. */
  close({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#isClosed = true;
    const heard = [...this.#heard];
    this.#heard.clear();
    if (cutsCalls) for (const each of heard) each.abort(new Error('the agent has died'));
  }

  /** Does it with the signal as the outside gets it: a dead agent gives no more signs, but its connections may break. */
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

  /** The same for a call that is answered on the spot: it neither hangs nor is late. */
  passNow<T>(call: OutsideCall, { act, failure, undo }: PassingNow<T>): T {
    if (this.#isClosed) return act();
    const fate = this.#fateOf(call);
    if (fate?.kind === 'fail') throw failure(fate.code);
    // Whether it would have failed: nobody hears of that any more.
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

  /** How many milliseconds a call waits for others before it takes effect, and then with its answer. */
  #overtaken({ room }: OutsideCall): readonly [number, number] {
    const { overtakes } = this.#parts;
    // The runtime takes its time anyway.
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

  /** The agent dies, unless it has died meanwhile: then another one may live. */
  #die(): void {
    if (!this.#isClosed) this.#parts.onDeath();
  }

  /** What a dead agent asked for may fail as well: nobody hears of that. */
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

/** Resolves with the event; rejects with the reason of a signal that aborts before. */
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
