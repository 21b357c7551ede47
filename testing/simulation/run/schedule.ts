/** The clock of a simulation. Its time advances only from timer to timer. */

import { TimerHeap } from '../../../actors/simulated/timerHeap.ts';
import type { Clock } from '../../../base/time/clock.ts';

/** A clock whose timers never fire after `stop`. */
export interface StoppableClock extends Clock {
  stop(): void;
  readonly pending: number;
}

/** All timers of a simulation, in the order in which they are due. */
export class Schedule {
  readonly #timers = new TimerHeap();
  #elapsed = 0;
  #offset: number;
  #isPassing = false;
  /** The intervals of wall-clock time between settings of the clock. */
  readonly #pastIntervals: { readonly from: number; readonly to: number }[] = [];
  #setAt = 0;

  /** `start` is the initial wall-clock time in milliseconds since the epoch. */
  constructor(start: number) {
    this.#offset = start;
  }

  /** Milliseconds since the start of the simulation, which do not depend on the wall clock. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** The wall-clock time in milliseconds since the epoch. */
  readonly now = (): number => this.#offset + this.#elapsed;

  /** Sets the wall clock forward or back by `ms`. Timers are not affected. */
  jump(ms: number): void {
    const offset = this.#offset + ms;
    if (Number.isNaN(new Date(offset + this.#elapsed).getTime())) throw new RangeError(`no clock can jump by ${ms} ms`);
    this.#pastIntervals.push({ from: this.#offset + this.#setAt, to: this.now() });
    this.#setAt = this.#elapsed;
    this.#offset = offset;
  }

  /** Whether the wall clock may have shown `first` no later than `then`, also if it was set back in between. */
  mayPrecede(first: number, then: number): boolean {
    if (first <= then) return true;
    const all = [...this.#pastIntervals, { from: this.#offset + this.#setAt, to: this.now() }];
    // A timestamp in seconds may be anywhere within its second.
    const isIn = (at: number) => (shown: { readonly from: number; readonly to: number }) =>
      shown.from < at + 1_000 && at <= shown.to;
    const earliest = all.findIndex(isIn(first));
    return earliest >= 0 && all.findLastIndex(isIn(then)) > earliest;
  }

  setTimeout(fn: () => void, ms: number): number {
    const due = this.#elapsed + Math.max(0, ms);
    // A timer that is due at NaN would never fire and would block all timers after it.
    if (Number.isNaN(due)) throw new RangeError(`no timer waits for ${ms} ms`);
    return this.#timers.set({ due, fn });
  }

  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#timers.clear(id);
  }

  /** The time at which the next timer is due, as `elapsed`. Undefined if no timer is pending. */
  get nextDue(): number | undefined {
    return this.#timers.nextDue;
  }

  /** Whether a timer is due now. */
  get isDue(): boolean {
    return (this.nextDue ?? Number.POSITIVE_INFINITY) <= this.#elapsed;
  }

  /**
   * Advances the time by `ms` milliseconds, one timer after the other. `turn` resolves when all work that is ready has
   * run.
   */
  async advance(ms: number, turn: () => Promise<void>): Promise<void> {
    checkSpan(ms);
    if (this.#isPassing) throw new Error('time passes already: wait until it has');
    this.#isPassing = true;
    try {
      const until = this.#elapsed + ms;
      await turn();
      while (this.#fireNext(until)) await turn();
      this.#elapsed = until;
    } finally {
      this.#isPassing = false;
    }
  }

  /** Fires the next timer that is due by `until` and returns whether there was one. */
  #fireNext(until: number): boolean {
    const { nextDue } = this.#timers;
    if (nextDue === undefined || nextDue > until) return false;
    this.#elapsed = Math.max(this.#elapsed, nextDue);
    this.#timers.next()?.fn();
    return true;
  }

  /** Returns a clock for an agent that may be killed. */
  stoppableClock(): StoppableClock {
    return createStoppableClock(this);
  }
}

function createStoppableClock(clock: Schedule): StoppableClock {
  const own = new Set<number>();
  let isStopped = false;
  return {
    now: clock.now,
    monotonic: () => clock.elapsed,
    setTimeout: (fn, ms) => {
      if (isStopped) return 0;
      const id = clock.setTimeout(() => {
        own.delete(id);
        fn();
      }, ms);
      own.add(id);
      return id;
    },
    clearTimeout: (id) => {
      if (typeof id === 'number' && own.delete(id)) clock.clearTimeout(id);
    },
    stop: () => {
      isStopped = true;
      for (const id of own) clock.clearTimeout(id);
      own.clear();
    },
    get pending() {
      return own.size;
    },
  };
}

// Read before a test can replace these globals.
const { setImmediate: runInNextLoopTurn } = globalThis;
const { nextTick } = process;

/** The event loop gets a turn once per this many calls of `nextTask`. */
const TURNS_PER_LOOP_TURN = 100;
let turns = 0;

/**
 * Resolves when all work that is ready now has run. `nextTick` callbacks run after all microtasks and are cheaper than
 * a turn of the event loop.
 */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    turns += 1;
    if (turns % TURNS_PER_LOOP_TURN === 0) runInNextLoopTurn(resolve);
    else nextTick(resolve);
  });

/** Maximum time by which a simulation can advance at once, ten years in milliseconds. */
export const MAX_SPAN_MS = 10 * 366 * 24 * 3_600_000;

/** Throws a `RangeError` if a simulation cannot advance by `ms` milliseconds. */
export function checkSpan(ms: number): void {
  if (!Number.isFinite(ms) || ms < 0 || ms > MAX_SPAN_MS)
    throw new RangeError(`no time can pass of ${String(ms)} ms: expected a number from 0 to ${MAX_SPAN_MS}`);
}
