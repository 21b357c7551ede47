/** The time without disturbances, i.e. without faults, API outages and clock changes. */
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

  /** The time of the last disturbance, in node time. */
  get since(): number {
    return this.#since;
  }

  /** The time since the last disturbance, in milliseconds. */
  get lastsMs(): number {
    return this.#watched.host.clock.elapsed - this.#since;
  }
}
