import { type Clock, within } from './clock.ts';

/** Whether the runtime stands still, as a process does that is stopped or waits for its disk. */
export class Stall {
  readonly #clock: Clock;
  #over: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#over !== undefined;
  }

  begin(): void {
    this.#over ??= Promise.withResolvers<void>();
  }

  end(): void {
    this.#over?.resolve();
    this.#over = undefined;
  }

  /** Waits until it goes on; rejects when the signal aborts first. */
  async passed(signal: AbortSignal): Promise<void> {
    while (this.#over) await within(this.#over.promise, this.#clock, undefined, signal);
  }
}
