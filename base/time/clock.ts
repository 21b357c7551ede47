import { createTurnLimiter, type TurnLimiter } from '../async/turnLimiter.ts';
import { yieldToEventLoop } from '../async/yieldToEventLoop.ts';
import { MAX_TIMER_MS } from './duration.ts';

/** Source of time. The daemon uses the system clock, and tests and simulations use a controlled clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since an arbitrary point. Used for measuring durations, because changes to the wall clock do not
   * affect this time.
   */
  monotonic(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  /**
   * Limits how much of a burst of work runs in one turn of the event loop. Absent if time is simulated, because no time
   * passes while work runs.
   */
  readonly turns?: TurnLimiter;
}

/** A clock for timestamps and timers only. */
export type TimerClock = Omit<Clock, 'monotonic' | 'turns'>;

/** A timer for delays longer than `MAX_TIMER_MS`, which runs as a series of shorter timers. */
class SteppedTimer {
  #id: NodeJS.Timeout;

  constructor(fn: () => void, ms: number) {
    this.#id = this.#startTimer(fn, ms);
  }

  #startTimer(fn: () => void, remainingMs: number): NodeJS.Timeout {
    if (remainingMs <= MAX_TIMER_MS) return setTimeout(fn, remainingMs);
    return setTimeout(() => {
      this.#id = this.#startTimer(fn, remainingMs - MAX_TIMER_MS);
    }, MAX_TIMER_MS);
  }

  clear(): void {
    clearTimeout(this.#id);
  }
}

/** Creates a limiter for the work that runs in one turn of this process's event loop. */
export const createSystemTurnLimiter = (maxPerTurn?: number): TurnLimiter =>
  createTurnLimiter({ monotonic: () => performance.now(), yieldToEventLoop, maxPerTurn });

/** The only clock that reads the system time. Its timers keep the process alive and accept delays of any length. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (fn, ms) => (ms > MAX_TIMER_MS ? new SteppedTimer(fn, ms) : setTimeout(fn, ms)),
  // Safe cast: every other ID was returned by the `setTimeout` above.
  clearTimeout: (id) => (id instanceof SteppedTimer ? id.clear() : clearTimeout(id as NodeJS.Timeout)),
  turns: createSystemTurnLimiter(),
};

/** Returns how many of `seconds` remain, counted from `startedAt` (a `monotonic` time) and rounded up. */
export const secondsLeft = (seconds: number, startedAt: number, clock: Pick<Clock, 'monotonic'>): number =>
  Math.max(0, Math.ceil(seconds - (clock.monotonic() - startedAt) / 1_000));

/** A clock that does not jump when the wall clock is adjusted. */
export interface SteadyClock extends Clock {
  /** Converts a time of this clock to wall-clock time, based on the current setting of the host's clock. */
  toWallTime(timestamp: number): number;
}

/**
 * Maximum offset change, in milliseconds, that can result from reading the two clocks one after the other. A larger
 * change means that the wall clock was adjusted.
 */
const OFFSET_TOLERANCE_MS = 500;

/**
 * Returns a clock for comparing timestamps with each other, e.g. a deadline with the current time. It starts at the
 * current wall-clock time and then advances with the monotonic clock, so that adjusting the wall clock backwards does
 * not delay a deadline.
 */
export function steadyClock(clock: Clock): SteadyClock {
  const offset = () => clock.now() - clock.monotonic();
  const initialOffset = offset();
  let adjustment = 0;
  return {
    now: () => clock.monotonic() + initialOffset,
    monotonic: () => clock.monotonic(),
    toWallTime: (timestamp) => {
      const offsetChange = offset() - initialOffset;
      if (Math.abs(offsetChange - adjustment) > OFFSET_TOLERANCE_MS) adjustment = offsetChange;
      return Math.round(timestamp + adjustment);
    },
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
    clearTimeout: (id) => clock.clearTimeout(id),
    ...(clock.turns ? { turns: clock.turns } : {}),
  };
}

/** Returns a random number in [0, 1). No other code calls `Math.random`. */
export const systemJitter = (): number => Math.random();

/** Calls `callback` every `ms` milliseconds until the returned function is called. */
export function startInterval(clock: Clock, ms: number, callback: () => void): () => void {
  let id: unknown;
  const schedule = () => {
    id = clock.setTimeout(() => {
      schedule();
      callback();
    }, ms);
  };
  schedule();
  return () => clock.clearTimeout(id);
}
