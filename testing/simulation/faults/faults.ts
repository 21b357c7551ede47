/** What becomes of the calls of all agents to the outside, until faults have ended. */

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

  /** The fate that the plan has for a call, or the one that the host's trouble has; throws where the plan has none that can be. */
  fateOf(call: OutsideCall, index: number): Fate | undefined {
    if (this.#areOver) return undefined;
    const planned = this.#plan?.(call, index, this.#host.clock.elapsed) ?? undefined;
    if (planned === undefined) return this.#host.fateOf(call);
    checkFate(planned);
    return planned;
  }
}
