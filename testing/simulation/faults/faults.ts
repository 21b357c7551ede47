/** The faults of the calls of all agents, until `end`. */

import type { SimulatedHost } from '../host/host.ts';
import type { CallFault, FaultPlan, OutsideCall } from '../run/gate.ts';
import { checkCallFault } from './checkCallFault.ts';

export class Faults {
  readonly #host: SimulatedHost;
  readonly #plan: FaultPlan | undefined;
  readonly #ended = Promise.withResolvers<void>();
  #haveEnded = false;

  constructor(host: SimulatedHost, plan: FaultPlan | undefined) {
    this.#host = host;
    this.#plan = plan;
  }

  /** Resolves when faults have ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  end(): void {
    this.#haveEnded = true;
    this.#ended.resolve();
    this.#host.recover();
  }

  /**
   * Returns the fault of a call from the plan, or else one that results from a fault of the host. Throws if the plan
   * returns an invalid fault.
   */
  faultOf(call: OutsideCall, index: number): CallFault | undefined {
    if (this.#haveEnded) return undefined;
    const planned = this.#plan?.(call, index, this.#host.clock.elapsed) ?? undefined;
    if (planned === undefined) return this.#host.faultOf(call);
    checkCallFault(planned);
    return planned;
  }
}
