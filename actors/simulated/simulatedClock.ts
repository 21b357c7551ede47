import type { Clock } from '../../base/time/clock.ts';
import { countRunningPrograms } from '../../host/program.ts';
import { TimerHeap } from './timerHeap.ts';

/**
 * A clock for tests and simulations. Time only passes when the clock is advanced, which runs the due timers in order.
 */
export class SimulatedClock implements Clock {
  readonly #pendingTimers = new TimerHeap();
  #currentTime: number;

  /** `start` is in milliseconds since the epoch. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#currentTime = start;
  }

  now(): number {
    return this.#currentTime;
  }

  monotonic(): number {
    return this.#currentTime;
  }

  setTimeout(fn: () => void, ms: number): number {
    return this.#pendingTimers.set({ fn, due: this.#currentTime + Math.max(0, ms) });
  }

  /** Like the system's `clearTimeout`, ignores anything that is not a timer of this clock. */
  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#pendingTimers.clear(id);
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#pendingTimers.size;
  }

  /** Advances the time by `ms`. Runs due timers one after the other and lets promises settle before and after each. */
  async advance(ms: number): Promise<void> {
    const target = this.#currentTime + ms;
    await settlePromises();
    while (this.#fireNext(target)) await settlePromises();
    this.#currentTime = target;
  }

  /**
   * Advances the time from timer to timer until the promise settles. Fails if there are no more timers, because the
   * promise could then never settle.
   */
  async advanceUntilSettled<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const markSettled = () => {
      isSettled = true;
    };
    promise.then(markSettled, markSettled);
    await settlePromises();
    while (!isSettled) {
      if (!this.#fireNext(Number.POSITIVE_INFINITY))
        throw new Error('no timers left, but the promise is still pending');
      await settlePromises();
    }
    return promise;
  }

  #fireNext(target: number): boolean {
    const due = this.#pendingTimers.nextDue;
    if (due === undefined || due > target) return false;
    this.#currentTime = Math.max(this.#currentTime, due);
    this.#pendingTimers.next()?.fn();
    return true;
  }
}

/** Number of event loop turns to wait, because long promise chains take more than one. */
const SETTLE_TURNS = 3;

/**
 * Waits until promises have settled and no file access or awaited program is running, so that a slow disk takes no
 * simulated time.
 */
async function settlePromises(): Promise<void> {
  for (let idleTurns = 0; idleTurns < SETTLE_TURNS; idleTurns = isDiskBusy() ? 0 : idleTurns + 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function isDiskBusy(): boolean {
  const isFileRequest = (kind: string) => kind.startsWith('FSReq') || kind === 'CloseReq';
  return countRunningPrograms() > 0 || process.getActiveResourcesInfo().some(isFileRequest);
}
