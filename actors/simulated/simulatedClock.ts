import type { Clock } from '../../base/clock.ts';
import { countRunningPrograms } from '../../host/program.ts';
import { Timers } from './timers.ts';

/** A clock for tests and simulations that stands still until it is advanced, and then runs due timers in order. */
export class SimulatedClock implements Clock {
  readonly #timers = new Timers();
  #now: number;

  /** `start` is in milliseconds since the epoch. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): number {
    return this.#timers.set({ fn, due: this.#now + Math.max(0, ms) });
  }

  /** Ignores anything that is not a timer of this clock, like the system's `clearTimeout`. */
  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#timers.clear(id);
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the time by `ms`. Runs due timers one after the other and lets promises settle before and after each. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    while (this.#fireNext(target)) await settle();
    this.#now = target;
  }

  /**
   * Advances the time from timer to timer until the promise settles. Fails if there are no more timers, because the
   * promise could then never settle.
   */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const done = () => {
      isSettled = true;
    };
    promise.then(done, done);
    await settle();
    while (!isSettled) {
      if (!this.#fireNext(Number.POSITIVE_INFINITY))
        throw new Error('no timers left, but the promise is still pending');
      await settle();
    }
    return promise;
  }

  #fireNext(target: number): boolean {
    const due = this.#timers.nextDue;
    if (due === undefined || due > target) return false;
    this.#now = Math.max(this.#now, due);
    this.#timers.next()?.fn();
    return true;
  }
}

/** Number of event loop turns to wait, because long promise chains take more than one. */
const TURNS = 3;

/**
 * Waits until promises have settled and no file access or awaited program is running, so a slow disk takes no simulated
 * time.
 */
async function settle(): Promise<void> {
  for (let idleTurns = 0; idleTurns < TURNS; idleTurns = isDiskBusy() ? 0 : idleTurns + 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function isDiskBusy(): boolean {
  const isFileRequest = (kind: string) => kind.startsWith('FSReq') || kind === 'CloseReq';
  return countRunningPrograms() > 0 || process.getActiveResourcesInfo().some(isFileRequest);
}
