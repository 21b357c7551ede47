/** Requests the resource usage of containers and pods from the runtime. */

import type { Clock } from '../../base/time/clock.ts';
import type { CallOptions, Cri } from '../../cri/client/calls.ts';
import type { Rates } from '../rates.ts';
import { containerUsage, podUsage, type RuntimeUsage } from './criUsage.ts';

export interface RuntimeStats {
  /** Usage of containers, by container ID. */
  readonly containers: ReadonlyMap<string, RuntimeUsage>;
  /** Usage of pods, by sandbox ID. */
  readonly pods: ReadonlyMap<string, RuntimeUsage>;
}

interface RuntimeStatsOptions {
  /** Whether to request the usage of pods too. */
  readonly includesPods: boolean;
  /** Undefined for a sample without CPU rates. */
  readonly rates: Rates | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Requests the statistics. Omits values that the runtime does not return. */
export async function requestRuntimeStats(
  cri: Pick<Cri, 'listContainerStats' | 'listPodSandboxStats'>,
  options: CallOptions,
  { includesPods, rates, clock }: RuntimeStatsOptions,
): Promise<RuntimeStats> {
  const podStats = includesPods ? cri.listPodSandboxStats(ALL_SANDBOXES, options) : Promise.resolve({ stats: [] });
  const [containers, pods] = await Promise.all([
    cri.listContainerStats({ filter: undefined }, options).catch(() => ({ stats: [] })),
    // Ignore a failure, because not all runtimes implement this method.
    podStats.catch(() => ({ stats: [] })),
  ]);
  // Convert the runtime's timestamps from wall-clock time to monotonic time, because rates use the monotonic clock.
  const clockOffsetMs = clock.now() - clock.monotonic();
  const createRateFunction = (key: string) => (usedNs: number, readAt: number) =>
    rates?.rateOf(key, { usedNs, at: readAt - clockOffsetMs });
  return {
    containers: new Map(
      containers.stats.flatMap((each) => {
        const id = each.attributes?.id;
        return id === undefined ? [] : [[id, containerUsage(each, createRateFunction(`container ${id}`))] as const];
      }),
    ),
    pods: new Map(
      pods.stats.flatMap((each) => {
        const id = each.attributes?.id;
        return id === undefined ? [] : [[id, podUsage(each, createRateFunction(`sandbox ${id}`))] as const];
      }),
    ),
  };
}

/** Filter that matches all sandboxes. Without a filter, runtimes fail if a sandbox has just exited. */
const ALL_SANDBOXES = { filter: { id: '', labelSelector: {} } };
