import { TimerHeap } from '../../../actors/simulated/timerHeap.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { openTurn } from '../../support/closedHost.ts';

/** A clock that advances to the next timer once no other work is ready. */
export class JumpingClock implements Clock {
  readonly #timers = new TimerHeap();
  #now = Date.UTC(2026, 0, 1);

  now = () => this.#now;
  monotonic = () => this.#now;
  setTimeout = (fn: () => void, ms: number) => this.#timers.set({ fn, due: this.#now + Math.max(0, ms) });
  clearTimeout = (id: unknown) => void (typeof id === 'number' && this.#timers.clear(id));

  get pending(): number {
    return this.#timers.size;
  }

  /** Advances time until a condition holds, for at most `minutes` minutes. */
  async until(what: string, holds: () => boolean, minutes = 10): Promise<void> {
    for (const end = this.#now + minutes * 60_000; this.#now < end; ) {
      await openTurn();
      if (holds()) return;
      const next = this.#timers.next();
      if (next === undefined) throw new Error(`nothing goes on any more: ${what}`);
      this.#now = Math.max(this.#now, next.due);
      next.fn();
    }
    throw new Error(`not in ${minutes} minutes: ${what}`);
  }
}
