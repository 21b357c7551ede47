/** What lasts for a while and then ends: a later spell of the same kind goes on for its own time. */
import type { Schedule } from '../run/schedule.ts';

export class Spells {
  readonly #clock: Schedule;
  readonly #ends = new Map<string, () => void>();

  constructor(clock: Schedule) {
    this.#clock = clock;
  }

  begin(kind: string, forMs: number, end: () => void): void {
    this.#ends.set(kind, end);
    this.#clock.setTimeout(() => {
      if (this.#ends.get(kind) === end) this.#end(kind);
    }, forMs);
  }

  /** Ends all that lasts. */
  endAll(): void {
    for (const kind of [...this.#ends.keys()]) this.#end(kind);
  }

  #end(kind: string): void {
    this.#ends.get(kind)?.();
    this.#ends.delete(kind);
  }
}
