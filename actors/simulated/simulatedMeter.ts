/** Measures the resources of a simulated host. A gate can delay each measurement or make it fail. */
import type { Gate } from '../../host/simulated/gate.ts';
import type { DiskLayout } from '../../kubernetes/eviction/layout.ts';
import type { Observations } from '../../kubernetes/eviction/pressure.ts';
import type { MeasuredResource, PodUsage, PodUsages } from '../../kubernetes/eviction/usage.ts';
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
    measurePods: (uids, resource) =>
      measure('measurePods', () =>
        Object.fromEntries(
          Object.entries(resources.usages(uids)).map(([uid, usage]) => [uid, measuredUsage(resource, usage)] as const),
        ),
      ),
  };
}

/** Returns only the figures that a host measures for a resource. */
function measuredUsage(resource: MeasuredResource, usage: PodUsage): PodUsage {
  switch (resource) {
    case 'everything':
      return usage;
    case 'memory':
      return {
        memoryBytes: usage.memoryBytes,
        containers: usage.containers.map(({ name, memoryBytes }) => ({ name, memoryBytes })),
        volumes: [],
      };
    case 'pids':
      return { processes: usage.processes, containers: usage.containers.map(({ name }) => ({ name })), volumes: [] };
    case 'ephemeral-storage':
    case 'inodes':
      return {
        containers: usage.containers.map(({ name, rootfs, logs }) => ({ name, rootfs, logs })),
        volumes: usage.volumes,
        ephemeralStorageBytes: usage.ephemeralStorageBytes,
      };
  }
}
