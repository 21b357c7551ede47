/**
 * Measures the node's resources for pod eviction (`makeSignalObservations` in `pkg/kubelet/eviction/helpers.go`). A
 * measurement of the node alone neither lists nor reads its pods.
 */
import { stat } from 'node:fs/promises';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { FilesystemUsage } from '../../cri/generated/runtime.ts';
import { type FileSystemUsage, readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import type { DiskLayout } from '../../kubernetes/eviction/layout.ts';
import type { Observation, Observations } from '../../kubernetes/eviction/pressure.ts';
import type {
  ContainerUsage,
  DiskUsage,
  MeasuredResource,
  PodUsage,
  PodUsages,
} from '../../kubernetes/eviction/usage.ts';
import { cgroupStats } from '../cgroupStats.ts';
import { layerUsage } from '../pods/criUsage.ts';
import type { Collector } from './collector.ts';
import type { HostFacts } from './hostFacts.ts';
import type { StatsProvider } from './statsProvider.ts';
import type { FsStats, MemoryStats, PodStats } from './summary.ts';

export interface ResourceMeterOptions {
  readonly collector: Pick<Collector, 'memory'>;
  readonly provider: Pick<StatsProvider, 'podDiskUsage' | 'podUsage'>;
  readonly cri: Pick<Cri, 'imageFsInfo'>;
  readonly hostFacts: Pick<HostFacts, 'memoryTotals' | 'taskStats'>;
  readonly rootDirectory: string;
  readonly clock: Pick<Clock, 'now'>;
}

const RUNTIME_TIMEOUT_MS = 5_000;

/** A file system that the runtime reports. */
interface RuntimeFileSystem {
  readonly mountpoint: string;
  /** Time of the runtime's measurement, in milliseconds since the epoch. */
  readonly readAt: number;
}

export class ResourceMeter {
  readonly #options: ResourceMeterOptions;
  /** Layout of the node's file systems. Like the kubelet, the agent detects it only once. */
  #layout: DiskLayout | undefined;

  constructor(options: ResourceMeterOptions) {
    this.#options = options;
  }

  readMemory(): Observations {
    const { collector, hostFacts } = this.#options;
    const { root, allPods } = collector.memory();
    const node = root && memoryObservation(cgroupStats(root, hostFacts.memoryTotals).memory);
    const pods = allPods && memoryObservation(cgroupStats(allPods).memory);
    return {
      ...(node ? { 'memory.available': node } : {}),
      ...(pods ? { 'allocatableMemory.available': pods } : {}),
    };
  }

  async measureNode(
    signal: AbortSignal,
  ): Promise<{ readonly layout: DiskLayout; readonly observations: Observations }> {
    const { rootDirectory, clock } = this.#options;
    const { images, containers } = await this.#runtimeFileSystems(signal);
    this.#layout ??= await this.#detectLayout(images, containers);
    const at = clock.now();
    const [nodeFs, imageFs, containerFs] = await Promise.all([
      readFileSystemUsage(rootDirectory, signal),
      images && readFileSystemUsage(images.mountpoint, signal),
      // Read a shared file system only once, so that the signals for images and for containers are based on the same
      // values.
      containers && containers !== images && readFileSystemUsage(containers.mountpoint, signal),
    ]);
    const observations = {
      ...this.readMemory(),
      ...fileSystemObservations('nodefs', nodeFs, at),
      ...fileSystemObservations('imagefs', imageFs, images?.readAt ?? at),
      ...fileSystemObservations('containerfs', containerFs || imageFs, containers?.readAt ?? at),
      ...this.#processObservation(),
    };
    return { layout: this.#layout, observations };
  }

  async measureDiskUsage(uids: readonly string[], signal: AbortSignal): Promise<PodUsages> {
    return toUsages(await this.#options.provider.podDiskUsage(uids, signal));
  }

  async measurePods(uids: readonly string[], resource: MeasuredResource, signal: AbortSignal): Promise<PodUsages> {
    return toUsages(await this.#options.provider.podUsage(uids, resource, signal));
  }

  /**
   * Returns the file systems that contain the images and the containers' writable layers. If the runtime reports no
   * file system for containers, that of the images is used for both.
   */
  async #runtimeFileSystems(signal: AbortSignal) {
    const { cri } = this.#options;
    const response = await cri.imageFsInfo({}, { signal, timeoutMs: RUNTIME_TIMEOUT_MS });
    const images = runtimeFileSystem(response.imageFilesystems[0]);
    return { images, containers: runtimeFileSystem(response.containerFilesystems[0]) ?? images };
  }

  /**
   * Detects the layout of the file systems by comparing their devices (`HasDedicatedImageFs` in
   * `pkg/kubelet/stats/provider.go`).
   */
  async #detectLayout(
    images: RuntimeFileSystem | undefined,
    containers: RuntimeFileSystem | undefined,
  ): Promise<DiskLayout> {
    if (images === undefined || containers === undefined) return 'single';
    const [root, image, container] = await Promise.all([
      deviceOf(this.#options.rootDirectory),
      deviceOf(images.mountpoint),
      deviceOf(containers.mountpoint),
    ]);
    if (image === root) return 'single';
    return container === image ? 'separateImages' : 'split';
  }

  #processObservation(): Observations {
    const { hostFacts, clock } = this.#options;
    const { maxpid: capacity, curproc: taskCount } = hostFacts.taskStats();
    if (capacity === undefined || taskCount === undefined) return {};
    return { 'pid.available': { available: capacity - taskCount, capacity, at: clock.now() } };
  }
}

function runtimeFileSystem(usage: FilesystemUsage | undefined): RuntimeFileSystem | undefined {
  if (usage === undefined) return undefined;
  const { mountpoint, readAt } = layerUsage(usage);
  return mountpoint === '' ? undefined : { mountpoint, readAt };
}

async function deviceOf(path: string): Promise<number> {
  try {
    return (await stat(path)).dev;
  } catch (cause) {
    throw new NodeFailure('FailedRead', `cannot find the file system of ${path}: ${messageOf(cause)}`, { cause });
  }
}

function memoryObservation(memory: MemoryStats | undefined): Observation | undefined {
  const { availableBytes: available, workingSetBytes, time } = memory ?? {};
  if (available === undefined || workingSetBytes === undefined || time === undefined) return undefined;
  return { available, capacity: available + workingSetBytes, at: time.ms };
}

/**
 * Returns the observations for the eviction signals of a file system. Omits the inode signal if the file system does
 * not count its inodes.
 */
function fileSystemObservations(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  fileSystem: FileSystemUsage | undefined,
  at: number,
): Observations {
  if (fileSystem === undefined) return {};
  const { availableBytes, capacityBytes, inodes, inodesFree } = fileSystem;
  return {
    [`${name}.available`]: { available: availableBytes, capacity: capacityBytes, at },
    ...(inodes > 0 ? { [`${name}.inodesFree`]: { available: inodesFree, capacity: inodes, at } } : {}),
  };
}

const toUsages = (pods: readonly PodStats[]): PodUsages =>
  Object.fromEntries(pods.map((pod) => [pod.podRef.uid, podUsage(pod)]));

function podUsage(pod: PodStats): PodUsage {
  const { memory, process_stats: processes, containers, volume: volumes = [] } = pod;
  return {
    memoryBytes: memory?.workingSetBytes,
    processes: processes?.process_count,
    containers: containers.map(
      ({ name, memory: own, rootfs, logs }): ContainerUsage => ({
        name,
        memoryBytes: own?.workingSetBytes,
        rootfs: rootfs && diskUsage(rootfs),
        logs: logs && diskUsage(logs),
      }),
    ),
    volumes: volumes.map((each) => ({ name: each.name, ...diskUsage(each) })),
    ephemeralStorageBytes: pod['ephemeral-storage']?.usedBytes,
  };
}

const diskUsage = ({ usedBytes, inodesUsed }: FsStats): DiskUsage => ({ bytes: usedBytes, inodes: inodesUsed });
