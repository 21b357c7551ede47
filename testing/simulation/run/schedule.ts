/** The one time that everything in a simulation lives in: it stands still until the next timer is taken. */

import { Timers } from '../../../actors/simulated/timers.ts';
import type { Clock } from '../../../base/clock.ts';

/** A clock that ends with whoever it was made for: then none of its timers elapses any more. */
export interface MortalClock extends Clock {
  end(): void;
  /** How many timers wait. */
  readonly pending: number;
}

/** All timers of a simulation, in the order in which they are due. */
export class Schedule {
  readonly #timers = new Timers();
  #elapsed = 0;
  #offset: number;
  #isPassing = false;
  /** What the wall clock showed from when it was set until it was set again. */
  readonly #shown: { readonly from: number; readonly to: number }[] = [];
  #setAt = 0;

  /** `start` is what the wall clock shows first, in milliseconds since the epoch. */
  constructor(start: number) {
    this.#offset = start;
  }

  /** Milliseconds since the simulation began, which no jump of the clock changes. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** What the wall clock shows, in milliseconds since the epoch. */
  readonly now = (): number => this.#offset + this.#elapsed;

  /** Sets the wall clock forward or back; timers go on to wait as long as they were told to. */
  jump(ms: number): void {
    const offset = this.#offset + ms;
    if (Number.isNaN(new Date(offset + this.#elapsed).getTime())) throw new RangeError(`no clock can jump by ${ms} ms`);
    this.#shown.push({ from: this.#offset + this.#setAt, to: this.now() });
    this.#setAt = this.#elapsed;
    this.#offset = offset;
  }

  /** Whether the wall clock may have shown one second before another, or when it did: also where it was set back between. */
  mayShowInTurn(first: number, then: number): boolean {
    if (first <= then) return true;
    const all = [...this.#shown, { from: this.#offset + this.#setAt, to: this.now() }];
    // What is told in seconds is from somewhere in them.
    const isIn = (at: number) => (shown: { readonly from: number; readonly to: number }) =>
      shown.from < at + 1_000 && at <= shown.to;
    const earliest = all.findIndex(isIn(first));
    return earliest >= 0 && all.findLastIndex(isIn(then)) > earliest;
  }

  setTimeout(fn: () => void, ms: number): number {
    const due = this.#elapsed + Math.max(0, ms);
    // It would never be due, and no other timer after it.
    if (Number.isNaN(due)) throw new RangeError(`no timer waits for ${ms} ms`);
    return this.#timers.set({ due, fn });
  }

  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#timers.clear(id);
  }

  /** When the next timer is due, by `elapsed`; undefined where none waits. */
  get nextDue(): number | undefined {
    return this.#timers.nextDue;
  }

  /** Whether a timer is due at this very moment. */
  get isDue(): boolean {
    return (this.nextDue ?? Number.POSITIVE_INFINITY) <= this.#elapsed;
  }

  /** Lets so many milliseconds pass, one timer after the other; `turn` ends when all has happened that is ready. */
  async pass(ms: number, turn: () => Promise<void>): Promise<void> {
    checkSpan(ms);
    if (this.#isPassing) throw new Error('time passes already: wait until it has');
    this.#isPassing = true;
    try {
      const until = this.#elapsed + ms;
      await turn();
      while (this.#take(until)) await turn();
      this.#elapsed = until;
    } finally {
      this.#isPassing = false;
    }
  }

  /** Lets the next timer elapse that is due by then; false where there is none. */
  #take(until: number): boolean {
    const { nextDue } = this.#timers;
    if (nextDue === undefined || nextDue > until) return false;
    this.#elapsed = Math.max(this.#elapsed, nextDue);
    this.#timers.take()?.fn();
    return true;
  }

  /** The clock of somebody who may die. */
  mortalClock(): MortalClock {
    return mortal(this);
  }
}

function mortal(clock: Schedule): MortalClock {
  const own = new Set<number>();
  let ended = false;
  return {
    now: clock.now,
    monotonic: () => clock.elapsed,
    setTimeout: (fn, ms) => {
      if (ended) return 0;
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
    end: () => {
      ended = true;
      for (const id of own) clock.clearTimeout(id);
      own.clear();
    },
    get pending() {
      return own.size;
    },
  };
}

// Taken before anybody can put others in their place.
const { setImmediate: soon } = globalThis;
const { nextTick } = process;

/** So often the event loop has a turn of its own. */
const LOOP_EVERY = 100;
let turns = 0;

/** When all that is ready now has happened: ticks come after all microtasks, at less cost than a turn of the event loop. */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    turns += 1;
    if (turns % LOOP_EVERY === 0) soon(resolve);
    else nextTick(resolve);
  });

/** Ten years: a node takes a while for each minute of them. */
export const LONGEST_MS = 10 * 366 * 24 * 3_600_000;

/** Throws where time would stand still, or pass for longer than anybody can wait. */
export function checkSpan(ms: number): void {
  if (!Number.isFinite(ms) || ms < 0 || ms > LONGEST_MS)
    throw new RangeError(`no time can pass of ${String(ms)} ms: expected a number from 0 to ${LONGEST_MS}`);
}
