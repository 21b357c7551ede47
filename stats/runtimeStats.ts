/** Asks the runtime what its containers and pods use. */
import type { CallOptions, Cri } from '../cri/calls.ts';
import { containerUsage, podUsage, type RuntimeUsage } from './criUsage.ts';
import type { Rates } from './rates.ts';
import type { StatsClock } from './statsClock.ts';

export interface RuntimeStats {
  /** By container. */
  readonly containers: ReadonlyMap<string, RuntimeUsage>;
  /** By sandbox. */
  readonly pods: ReadonlyMap<string, RuntimeUsage>;
}

interface Needs {
  /** Whether it is asked of pods as well. */
  readonly lacksPods: boolean;
  readonly rates: Rates;
  readonly clock: StatsClock;
}

/** What it does not answer is absent. */
export async function runtimeStats(
  cri: Pick<Cri, 'listContainerStats' | 'listPodSandboxStats'>,
  options: CallOptions,
  { lacksPods, rates, clock }: Needs,
): Promise<RuntimeStats> {
  const ofPods = lacksPods ? cri.listPodSandboxStats(ALL_READY, options) : Promise.resolve({ stats: [] });
  const [containers, pods] = await Promise.all([
    cri.listContainerStats({ filter: undefined }, options).catch(() => ({ stats: [] })),
    // A runtime need not have it.
    ofPods.catch(() => ({ stats: [] })),
  ]);
  // The moments that a runtime tells are of the day, and the rates' are not.
  const ahead = clock.now() - clock.monotonic();
  const rateOf = (key: string) => (usedNs: number, readAt: number) => rates.of(key, { usedNs, at: readAt - ahead });
  return {
    containers: new Map(
      containers.stats.flatMap((each) => {
        const id = each.attributes?.id;
        return id === undefined ? [] : [[id, containerUsage(each, rateOf(`container ${id}`))] as const];
      }),
    ),
    pods: new Map(
      pods.stats.flatMap((each) => {
        const id = each.attributes?.id;
        return id === undefined ? [] : [[id, podUsage(each, rateOf(`sandbox ${id}`))] as const];
      }),
    ),
  };
}

/** With a filter, runtimes pass over sandboxes that have ended instead of failing. */
const ALL_READY = { filter: { id: '', labelSelector: {} } };
