/** The memory, disk space and processes of the simulated host. */
import type { SimulatedResources } from '../../../actors/simulated/simulatedMeter.ts';
import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import type { Observation, Observations } from '../../../kubernetes/eviction/pressure.ts';
import type { PodUsages } from '../../../kubernetes/eviction/usage.ts';

const MI = 2 ** 20;
const GI = 2 ** 30;

/** A resource of the host that can run low. */
export type HostResource = 'memory' | 'disk' | 'inodes' | 'processes';

export const HOST_RESOURCES: readonly HostResource[] = ['memory', 'disk', 'inodes', 'processes'];

const CAPACITY: Readonly<Record<HostResource, number>> = {
  memory: 4 * GI,
  disk: 100 * GI,
  inodes: 1_000_000,
  processes: 10_000,
};

/** Usage of each running container. */
const CONTAINER_USAGE: Readonly<Record<HostResource, number>> = {
  memory: 64 * MI,
  disk: GI,
  inodes: 1_000,
  processes: 10,
};

/** Usage of each dead container, which only occupies the disk. */
const DEAD_CONTAINER_USAGE: Readonly<Partial<Record<HostResource, number>>> = { disk: GI, inodes: 1_000 };

interface HostResourcesParts {
  readonly now: () => number;
  /** The containers of the agent's pods, whether or not they are running. */
  readonly containers: () => readonly SimulatedContainer[];
}

export class HostResources implements SimulatedResources {
  readonly layout: DiskLayout = 'single';
  readonly #parts: HostResourcesParts;
  /** Usage of the programs other than pods, as shares of the capacity. */
  readonly #otherShares = new Map<HostResource, number>();

  constructor(parts: HostResourcesParts) {
    this.#parts = parts;
  }

  /** Sets the share of a resource that programs other than pods use, from 0 to 1. */
  setOtherUsage(resource: HostResource, share: number): void {
    this.#otherShares.set(resource, share);
  }

  /** The observations of the last measurement. Undefined before the first one. */
  lastObservations: Observations | undefined;

  /** Returns the amount of a resource that is available. */
  available(resource: HostResource): number {
    const others = CAPACITY[resource] * (this.#otherShares.get(resource) ?? 0);
    const containers = this.#parts.containers();
    const running = containers.filter(({ state }) => state === 'running').length * CONTAINER_USAGE[resource];
    const dead = containers.filter(({ state }) => state === 'exited').length * (DEAD_CONTAINER_USAGE[resource] ?? 0);
    return Math.max(0, Math.floor(CAPACITY[resource] - others - running - dead));
  }

  memory(): Observations {
    return { 'memory.available': this.#observation('memory') };
  }

  #observation(resource: HostResource): Observation {
    return { available: this.available(resource), capacity: CAPACITY[resource], at: this.#parts.now() };
  }

  observations(): Observations {
    const [disk, inodes] = [this.#observation('disk'), this.#observation('inodes')];
    const observations = {
      ...this.memory(),
      'nodefs.available': disk,
      'nodefs.inodesFree': inodes,
      'imagefs.available': disk,
      'imagefs.inodesFree': inodes,
      'containerfs.available': disk,
      'containerfs.inodesFree': inodes,
      'pid.available': this.#observation('processes'),
    };
    this.lastObservations = observations;
    return observations;
  }

  usages(uids: readonly string[]): PodUsages {
    const running = this.#parts
      .containers()
      .filter(({ state, podUid }) => state === 'running' && uids.includes(podUid));
    return Object.fromEntries(
      Array.from(
        Map.groupBy(running, ({ podUid }) => podUid),
        ([uid, containers]) => [
          uid,
          {
            memoryBytes: containers.length * CONTAINER_USAGE.memory,
            processes: containers.length * CONTAINER_USAGE.processes,
            containers: containers.map(({ containerName: name }) => ({
              name,
              memoryBytes: CONTAINER_USAGE.memory,
              rootfs: { bytes: CONTAINER_USAGE.disk, inodes: CONTAINER_USAGE.inodes },
              logs: { bytes: 0, inodes: 1 },
            })),
            volumes: [],
            ephemeralStorageBytes: containers.length * CONTAINER_USAGE.disk,
          },
        ],
      ),
    );
  }
}
