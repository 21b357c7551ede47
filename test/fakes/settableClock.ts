/** A simulated clock whose time of day somebody sets, which moves none of its timers. */
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';

export class SettableClock extends SimulatedClock {
  #setBy = 0;

  override now(): number {
    return super.now() + this.#setBy;
  }

  /** By so many milliseconds; back where they are less than 0. */
  set(by: number): void {
    this.#setBy += by;
  }
}
