/** A simulated clock whose wall-clock time can be set without any effect on its timers. */
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';

export class SettableClock extends SimulatedClock {
  #setBy = 0;

  override now(): number {
    return super.now() + this.#setBy;
  }

  /** Sets the wall clock forward by `by` milliseconds, or back if `by` is negative. */
  set(by: number): void {
    this.#setBy += by;
  }
}
