/** Measures the time without disturbances, i.e. without faults, API outages and clock changes. */
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Watched } from '../invariant.ts';

export class Undisturbed {
  readonly #watched: Watched;
  #since = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  readonly disturb = (): void => {
    this.#since = this.#watched.host.clock.elapsed;
  };

  noteCall(_call: OutsideCall, fault: CallFault | undefined): void {
    if (fault !== undefined || this.#watched.cluster?.hasFault) this.disturb();
  }

  /** Node time of the last disturbance, in milliseconds. */
  get since(): number {
    return this.#since;
  }

  /** Milliseconds since the last disturbance. */
  get lastsMs(): number {
    return this.#watched.host.clock.elapsed - this.#since;
  }
}
