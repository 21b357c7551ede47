/** Notices that the time of day was set, or that the host has slept: both clocks go on, by a different time. */
import { type Clock, every } from './clock.ts';

const LOOK_MS = 10_000;
/** Clocks that others keep right are set by less, or slowly. */
const JUMP_MS = 60_000;

interface Listener {
  /** By how much the time of day is ahead of the other clock, as far as the listener knows. */
  ahead: number;
  readonly hear: (byMs: number) => void;
}

/** One look for all who listen, and none while nobody does. */
export class ClockJumps {
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #stop = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `hear` is told by how many milliseconds, less than 0 where it was back, until the function that it gives is called. */
  listen(hear: Listener['hear']): () => void {
    if (this.#listeners.size === 0) this.#stop = every(this.#clock, LOOK_MS, () => this.#look());
    const listener = { ahead: this.#ahead(), hear };
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stop();
    };
  }

  #ahead(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }

  #look(): void {
    const ahead = this.#ahead();
    for (const listener of [...this.#listeners]) {
      const by = ahead - listener.ahead;
      if (Math.abs(by) <= JUMP_MS || !this.#listeners.has(listener)) continue;
      listener.ahead = ahead;
      listener.hear(by);
    }
  }
}
