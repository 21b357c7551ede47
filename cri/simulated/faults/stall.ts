import type { TimerClock } from '../../../base/clock.ts';
import { happensWithin } from '../clock.ts';

/** A stall of the runtime, as if its process were stopped or waiting for its disk. */
export class Stall {
  readonly #clock: TimerClock;
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(clock: TimerClock) {
    this.#clock = clock;
  }

  get isActive(): boolean {
    return this.#resumed !== undefined;
  }

  start(): void {
    this.#resumed ??= Promise.withResolvers<void>();
  }

  end(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Waits while the runtime is stalled. Rejects if the signal aborts first. */
  async waitUntilResumed(signal: AbortSignal): Promise<void> {
    while (this.#resumed) await happensWithin(this.#resumed.promise, this.#clock, undefined, signal);
  }
}
