import type { TimerClock } from '../../../base/time/clock.ts';
import { waitForEvent } from '../clock.ts';

/** A stall of the runtime, as if its process were stopped or waiting for its disk. */
export class Stall {
  readonly #clock: TimerClock;
  #resumption: PromiseWithResolvers<void> | undefined;

  constructor(clock: TimerClock) {
    this.#clock = clock;
  }

  get isActive(): boolean {
    return this.#resumption !== undefined;
  }

  start(): void {
    this.#resumption ??= Promise.withResolvers<void>();
  }

  end(): void {
    this.#resumption?.resolve();
    this.#resumption = undefined;
  }

  /** Waits while the runtime is stalled. Rejects if the signal aborts first. */
  async waitUntilResumed(signal: AbortSignal): Promise<void> {
    while (this.#resumption) await waitForEvent(this.#resumption.promise, this.#clock, undefined, signal);
  }
}
