import type { Clock } from '../../base/clock.ts';
import { countRunningPrograms } from '../../host/program.ts';
import { Timers } from './timers.ts';

/** A clock that stands still until it is moved, and what is due then happens in order: for tests and simulations. */
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

  /** Takes only what this clock gave out; anything else is ignored, as the system's does. */
  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#timers.clear(id);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time on by `ms`, one timer after the other, letting promises settle before and after each. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    while (this.#fireNext(target)) await settle();
    this.#now = target;
  }

  /** Moves time on, timer by timer, until the promise settles; fails when nothing is left that could settle it. */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    await settle();
    while (!settled) {
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
    this.#timers.take()?.fn();
    return true;
  }
}

/** How often what is ready gets its turn: long chains of promises hop through the event loop more than once. */
const ROUNDS = 3;

/**
 * Time stands still while real files are read or written, here or by a program that is waited for: a disk however slow
 * takes no simulated time.
 */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < ROUNDS; quiet = isDiskBusy() ? 0 : quiet + 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function isDiskBusy(): boolean {
  const isOfFile = (kind: string) => kind.startsWith('FSReq') || kind === 'CloseReq';
  return countRunningPrograms() > 0 || process.getActiveResourcesInfo().some(isOfFile);
}
