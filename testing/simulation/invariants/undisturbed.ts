/** The time in which a node can do what it means to: no call meets a fault, the server answers, and nobody sets the clock. */
import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Watched } from './invariant.ts';

export class Undisturbed {
  readonly #watched: Watched;
  #since = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  readonly disturb = (): void => {
    this.#since = this.#watched.host.clock.elapsed;
  };

  noteCall(_call: OutsideCall, fate: Fate | undefined): void {
    if (fate !== undefined || this.#watched.cluster?.isTroubled) this.disturb();
  }

  /** By the time that no jump of the clock changes. */
  get since(): number {
    return this.#since;
  }

  /** For how long by now, in milliseconds. */
  get lastsMs(): number {
    return this.#watched.host.clock.elapsed - this.#since;
  }
}
