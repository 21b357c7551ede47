/** The faults of the calls of all agents, until they are ended. */

import type { SimulatedHost } from '../host/host.ts';
import type { Fate, FaultPlan, OutsideCall } from '../run/outside.ts';
import { checkFate } from './fates.ts';

export class Faults {
  readonly #host: SimulatedHost;
  readonly #plan: FaultPlan | undefined;
  readonly #over = Promise.withResolvers<void>();
  #areOver = false;

  constructor(host: SimulatedHost, plan: FaultPlan | undefined) {
    this.#host = host;
    this.#plan = plan;
  }

  /** Resolves when faults have ended. */
  get ended(): Promise<void> {
    return this.#over.promise;
  }

  end(): void {
    this.#areOver = true;
    this.#over.resolve();
    this.#host.recover();
  }

  /**
   * Returns the fate that the plan has for a call, or else one that results from a fault of the host. Throws if the
   * plan returns an invalid fate.
   */
  fateOf(call: OutsideCall, index: number): Fate | undefined {
    if (this.#areOver) return undefined;
    const planned = this.#plan?.(call, index, this.#host.clock.elapsed) ?? undefined;
    if (planned === undefined) return this.#host.fateOf(call);
    checkFate(planned);
    return planned;
  }
}
