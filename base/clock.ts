import { LONGEST_TIMER_MS } from './duration.ts';
import { nextTurn } from './nextTurn.ts';
import { createTurns, type Turns } from './turns.ts';

/** Time as an input: what the daemon runs on is the system's, what tests and simulations run on is their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, whatever the clock is set to meanwhile: how long something takes. */
  monotonic(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  /** Shares of the event loop of the process. Absent if time is simulated, because then nothing takes any. */
  readonly turns?: Turns;
}

/** A timer that waits as long as it says, in steps that a single timer can count. */
class SteppedTimer {
  #id: NodeJS.Timeout;

  constructor(fn: () => void, ms: number) {
    this.#id = this.#step(fn, ms);
  }

  #step(fn: () => void, left: number): NodeJS.Timeout {
    if (left <= LONGEST_TIMER_MS) return setTimeout(fn, left);
    return setTimeout(() => {
      this.#id = this.#step(fn, left - LONGEST_TIMER_MS);
    }, LONGEST_TIMER_MS);
  }

  clear(): void {
    clearTimeout(this.#id);
  }
}

/** The one clock that reads the system's time; its timers keep the process alive, and wait however long they are told to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (fn, ms) => (ms > LONGEST_TIMER_MS ? new SteppedTimer(fn, ms) : setTimeout(fn, ms)),
  // An id that comes back here is one that this setTimeout gave out.
  clearTimeout: (id) => (id instanceof SteppedTimer ? id.clear() : clearTimeout(id as NodeJS.Timeout)),
  turns: createTurns({ monotonic: () => performance.now(), nextTurn }),
};

/** How many of so many seconds are left since a moment of its `monotonic`, each counted that has begun. */
export const secondsLeft = (seconds: number, beganAt: number, clock: Pick<Clock, 'monotonic'>): number =>
  Math.max(0, Math.ceil(seconds - (clock.monotonic() - beganAt) / 1_000));

/** A clock that is never set. */
export interface SteadyClock extends Clock {
  /** The time of day of one of its moments, as far as is known now. */
  shown(at: number): number;
}

/** Two clocks that are read one after the other drift by so much, in milliseconds: none was set. */
const DRIFT_MS = 500;

/**
 * The same clock for what compares moments with each other, as the end of a wait with now: it goes on from the time of day
 * at which it is made, whatever that is set to meanwhile. By the time of day a clock that is set back would keep the end
 * of a wait from coming.
 */
export function steadyClock(clock: Clock): SteadyClock {
  const ahead = () => clock.now() - clock.monotonic();
  const aheadThen = ahead();
  let setBy = 0;
  return {
    now: () => clock.monotonic() + aheadThen,
    monotonic: () => clock.monotonic(),
    shown: (at) => {
      const sinceThen = ahead() - aheadThen;
      if (Math.abs(sinceThen - setBy) > DRIFT_MS) setBy = sinceThen;
      return Math.round(at + setBy);
    },
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
    clearTimeout: (id) => clock.clearTimeout(id),
    ...(clock.turns ? { turns: clock.turns } : {}),
  };
}

/** The one place that throws dice: at least 0 and less than 1. */
export const systemJitter = (): number => Math.random();

/** Calls again and again, each time so many milliseconds after the last, until the function that it gives is called. */
export function every(clock: Clock, ms: number, call: () => void): () => void {
  let id: unknown;
  const next = () => {
    id = clock.setTimeout(() => {
      next();
      call();
    }, ms);
  };
  next();
  return () => clock.clearTimeout(id);
}
