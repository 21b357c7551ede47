/** What becomes of the calls of all agents to the outside, until faults have ended. */
import { lookUp } from '../pod/lookUp.ts';
import { ALL_CODES } from './failures.ts';
import type { SimulatedHost } from './host.ts';
import type { Fate, FaultPlan, OutsideCall } from './outside.ts';

const MOMENTS: ReadonlySet<unknown> = new Set(['before', 'during', 'after']);
const isCode = ({ code }: { readonly code?: string }): boolean => code === undefined || ALL_CODES.includes(code);

const isWhole: { readonly [K in Fate['kind']]: (fate: Fate & { readonly kind: K }) => boolean } = {
  ...{ fail: isCode, lostReply: isCode, hang: () => true },
  late: ({ ms }) => Number.isFinite(ms),
  death: ({ when }) => MOMENTS.has(when),
};

/** Whether a fate is one, as programs without types give others too. */
function isFate(fate: Fate): boolean {
  // The rule of a kind takes the fates of that kind.
  const rule = lookUp(isWhole, fate.kind) as ((fate: Fate) => boolean) | undefined;
  return rule?.(fate) ?? false;
}

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
    if (isFate(planned)) return planned;
    throw new TypeError(`there is no such fate: ${JSON.stringify(planned)}`);
  }
}
