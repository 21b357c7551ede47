/** Measures the resources of a simulated host. A gate can delay each measurement or make it fail. */
import type { Gate } from '../../host/simulated/gate.ts';
import type { DiskLayout } from '../../kubernetes/eviction/layout.ts';
import type { Observations } from '../../kubernetes/eviction/pressure.ts';
import type { PodUsages } from '../../kubernetes/eviction/usage.ts';
import type { ResourceMeter } from '../services/eviction/eviction.ts';

/** The resources of a simulated host and of the pods on it. */
export interface SimulatedResources {
  readonly layout: DiskLayout;
  observations(): Observations;
  /** Returns only the memory observations. */
  memory(): Observations;
  /** Returns the usage of the running pods with these UIDs. */
  usages(uids: readonly string[]): PodUsages;
}

export function simulatedMeter(resources: SimulatedResources, gate: Gate): ResourceMeter {
  const measure = <T>(name: string, act: () => T) => gate({ name, about: '', writes: false }, act);
  return {
    measureNode: () =>
      measure('measureNode', () => ({ layout: resources.layout, observations: resources.observations() })),
    readMemory: () => resources.memory(),
    measureDiskUsage: (uids) => measure('measureDiskUsage', () => resources.usages(uids)),
    measurePods: (uids) => measure('measurePods', () => resources.usages(uids)),
  };
}
