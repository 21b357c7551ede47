/** The memory, disk space and processes of the simulated host. */
import type { SimulatedResources } from '../../../actors/simulated/simulatedMeter.ts';
import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import type { Observation, Observations } from '../../../kubernetes/eviction/pressure.ts';
import type { PodUsages } from '../../../kubernetes/eviction/usage.ts';

const MI = 2 ** 20;
const GI = 2 ** 30;

/**
 * The resources of the host that can run low. `imageDisk` and `imageInodes` belong to the image file system. On a host
 * with a single file system, they are the same resources as `disk` and `inodes`.
 */
export const HOST_RESOURCES = ['memory', 'disk', 'inodes', 'imageDisk', 'imageInodes', 'processes'] as const;

export type HostResource = (typeof HOST_RESOURCES)[number];

export const DISK_LAYOUTS = ['single', 'separateImages', 'split'] as const satisfies readonly DiskLayout[];

type Amounts = Readonly<Partial<Record<HostResource, number>>>;

const CAPACITY: Readonly<Record<HostResource, number>> = {
  memory: 4 * GI,
  disk: 100 * GI,
  inodes: 1_000_000,
  imageDisk: 100 * GI,
  imageInodes: 1_000_000,
  processes: 10_000,
};

/** Memory and process usage of each running container. */
const RUNNING_USAGE = { memory: 64 * MI, processes: 10 };
/** Usage of the writable layer of each container, whether or not it is running. */
const LAYER_USAGE = { bytes: GI, inodes: 1_000 };
/** Usage of the logs of each container, whether or not it is running. */
const LOG_USAGE = { bytes: 100 * MI, inodes: 1 };

interface HostResourcesParts {
  readonly layout: DiskLayout;
  readonly now: () => number;
  /** The containers of the agent's pods, whether or not they are running. */
  readonly containers: () => readonly SimulatedContainer[];
}

export class HostResources implements SimulatedResources {
  readonly layout: DiskLayout;
  readonly #parts: HostResourcesParts;
  /** Usage of each container, whether or not it is running. */
  readonly #containerUsage: Amounts;
  /** Additional usage of each running container. */
  readonly #runningUsage: Amounts = RUNNING_USAGE;
  /** Usage by programs other than pods, as shares of the capacity. */
  readonly #otherShares = new Map<HostResource, number>();

  constructor(parts: HostResourcesParts) {
    this.#parts = parts;
    this.layout = parts.layout;
    const logs = { disk: LOG_USAGE.bytes, inodes: LOG_USAGE.inodes };
    this.#containerUsage =
      parts.layout === 'separateImages'
        ? { ...logs, imageDisk: LAYER_USAGE.bytes, imageInodes: LAYER_USAGE.inodes }
        : { disk: logs.disk + LAYER_USAGE.bytes, inodes: logs.inodes + LAYER_USAGE.inodes };
  }

  /** Sets the share of a resource that programs other than pods use, from 0 to 1. */
  setOtherUsage(resource: HostResource, share: number): void {
    this.#otherShares.set(this.#actualResource(resource), share);
  }

  /** The observations of the last measurement. Undefined before the first one. */
  lastObservations: Observations | undefined;

  /** Returns the amount of a resource that is available. */
  available(requestedResource: HostResource): number {
    const resource = this.#actualResource(requestedResource);
    const others = CAPACITY[resource] * (this.#otherShares.get(resource) ?? 0);
    const containers = this.#parts.containers();
    const runningCount = containers.filter(({ state }) => state === 'running').length;
    const ownUsage =
      containers.length * (this.#containerUsage[resource] ?? 0) + runningCount * (this.#runningUsage[resource] ?? 0);
    return Math.max(0, Math.floor(CAPACITY[resource] - others - ownUsage));
  }

  /** Maps a resource of the image file system to that of the only file system if the host has only one. */
  #actualResource(resource: HostResource): HostResource {
    if (this.layout !== 'single') return resource;
    if (resource === 'imageDisk') return 'disk';
    return resource === 'imageInodes' ? 'inodes' : resource;
  }

  memory(): Observations {
    return { 'memory.available': this.#observation('memory') };
  }

  #observation(resource: HostResource): Observation {
    return { available: this.available(resource), capacity: CAPACITY[resource], at: this.#parts.now() };
  }

  observations(): Observations {
    const nodeFs = { available: this.#observation('disk'), inodesFree: this.#observation('inodes') };
    const imageFs = { available: this.#observation('imageDisk'), inodesFree: this.#observation('imageInodes') };
    const containerFs = this.layout === 'separateImages' ? imageFs : nodeFs;
    const observations = {
      ...this.memory(),
      'nodefs.available': nodeFs.available,
      'nodefs.inodesFree': nodeFs.inodesFree,
      'imagefs.available': imageFs.available,
      'imagefs.inodesFree': imageFs.inodesFree,
      'containerfs.available': containerFs.available,
      'containerfs.inodesFree': containerFs.inodesFree,
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
            memoryBytes: containers.length * RUNNING_USAGE.memory,
            processes: containers.length * RUNNING_USAGE.processes,
            containers: containers.map(({ containerName: name }) => ({
              name,
              memoryBytes: RUNNING_USAGE.memory,
              rootfs: LAYER_USAGE,
              logs: LOG_USAGE,
            })),
            volumes: [],
            ephemeralStorageBytes: containers.length * (LAYER_USAGE.bytes + LOG_USAGE.bytes),
          },
        ],
      ),
    );
  }
}
