/** Faults that end after a while. A new fault of the same kind replaces the previous one and lasts for its own time. */
import type { Schedule } from '../run/schedule.ts';

export class TemporaryFaults {
  readonly #clock: Schedule;
  readonly #ends = new Map<string, () => void>();

  constructor(clock: Schedule) {
    this.#clock = clock;
  }

  start(kind: string, forMs: number, end: () => void): void {
    this.#ends.set(kind, end);
    this.#clock.setTimeout(() => {
      if (this.#ends.get(kind) === end) this.#end(kind);
    }, forMs);
  }

  endAll(): void {
    for (const kind of [...this.#ends.keys()]) this.#end(kind);
  }

  #end(kind: string): void {
    this.#ends.get(kind)?.();
    this.#ends.delete(kind);
  }
}
