/**
 * Provides the resource usage of the node and its pods. No other module reads cgroups, the runtime or the disk for this
 * purpose.
 */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { type FileSystemUsage, readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import type { MeasuredResource } from '../../kubernetes/eviction/usage.ts';
import { CachedValue } from '../cachedValue.ts';
import { cgroupStats } from '../cgroupStats.ts';
import { type LayerUsage, layerUsage } from '../pods/criUsage.ts';
import { fsStats, type MeasurementContext, measurePodFiles, type PodFiles } from '../pods/podFiles.ts';
import { networkStats, podStats } from '../pods/podStats.ts';
import type { VolumeUsage } from '../pods/volumeUsage.ts';
import type { CgroupSample, NodeSample, PodSample, SampleKind } from '../sample.ts';
import type { Collector } from './collector.ts';
import type { HostFacts } from './hostFacts.ts';
import {
  type ContainerStats,
  type FsStats,
  optionalStatsTime,
  type PodStats,
  type Summary,
  statsTime,
} from './summary.ts';

export interface StatsProviderOptions {
  readonly nodeName: string;
  readonly collector: Pick<Collector, 'sample' | 'runningPods'>;
  readonly cri: Pick<Cri, 'listContainerStats' | 'imageFsInfo'>;
  readonly hostFacts: HostFacts;
  readonly layout: MeasurementContext['layout'];
  readonly rootDirectory: string;
  readonly volumes: Pick<VolumeUsage, 'volumesOf' | 'refresh'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Waits for `ms` milliseconds or until the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborts all work in progress. */
  readonly signal: AbortSignal;
}

/**
 * Maximum age of a sample of CPU and memory, in milliseconds. It is short because clients poll CPU and memory
 * frequently.
 */
const CPU_AND_MEMORY_MAX_AGE_MS = 1_000;
/** Maximum age of a cached full summary, in milliseconds. The sample in the summary may be older. */
const SUMMARY_MAX_AGE_MS = 5_000;
/** Maximum age of a sample that is used to rank pods for eviction, in milliseconds. */
const EVICTION_MAX_AGE_MS = 1_000;
/** Kinds of samples by which pods are ranked for eviction. */
const RANKING_SAMPLES = { memory: 'workingSets', pids: 'processes', everything: 'everything' } as const;
const RUNTIME_TIMEOUT_MS = 5_000;
/** Timeout for measuring the files of all pods, in milliseconds. The summary omits results that arrive later. */
const FILES_TIMEOUT_MS = 10_000;
/** Delay before a second sample for CPU rates if there is no recent previous sample, in milliseconds. */
const SAMPLE_PAUSE_MS = 500;

/** Creates summaries of the node. Omits unavailable values. */
export class StatsProvider {
  readonly #options: StatsProviderOptions;
  readonly #summaryCache: CachedValue<Summary>;

  /** Milliseconds since the epoch. */
  readonly #startedAt: number;

  constructor(options: StatsProviderOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#summaryCache = new CachedValue({ computeValue: () => this.#createSummary(), clock: options.clock });
  }

  /** Returns a full summary that is at most `maxAgeMs` old. */
  fullSummary(signal: AbortSignal, maxAgeMs = SUMMARY_MAX_AGE_MS): Promise<Summary> {
    return this.#summaryCache.get(maxAgeMs, signal);
  }

  /**
   * Summarizes CPU and memory usage. This requires no disk access and no calls to the runtime except list calls.
   * `failure` is the runtime's error if it did not list its containers.
   */
  async cpuAndMemory(signal: AbortSignal): Promise<{ readonly summary: Summary; readonly failure?: unknown }> {
    const sample = await this.#options.collector.sample('cpuAndMemory', signal, CPU_AND_MEMORY_MAX_AGE_MS);
    return { summary: this.#summarizeCpuAndMemory(sample), failure: sample.failure };
  }

  /** Summarizes CPU and memory usage, including CPU rates, which may require waiting for a second sample. */
  async usageWithRates(signal: AbortSignal): Promise<Summary> {
    return this.#summarizeCpuAndMemory(await this.#sampleWithRates('cpuAndMemory', signal, CPU_AND_MEMORY_MAX_AGE_MS));
  }

  #summarizeCpuAndMemory(sample: NodeSample): Summary {
    const { cpu, memory, swap } = this.#rootStats(sample) ?? {};
    return {
      node: {
        nodeName: this.#options.nodeName,
        systemContainers: this.#systemContainers(sample, false),
        startTime: optionalStatsTime(this.#options.hostFacts.bootTime),
        cpu,
        memory,
        swap,
      },
      pods: runningPods(sample).map((pod) => podStats(pod)),
    };
  }

  async #createSummary(): Promise<Summary> {
    const { clock, hostFacts, nodeName } = this.#options;
    const [sample, files] = await Promise.all([
      this.#sampleWithRates('everything', this.#options.signal),
      this.#readFileSystems(),
    ]);
    const { cpu, memory, io, swap } = this.#rootStats(sample) ?? {};
    const pods = runningPods(sample);
    const podFiles = await this.#measureFiles(pods, files);
    const now = clock.now();
    return {
      node: {
        nodeName,
        systemContainers: this.#systemContainers(sample, true),
        startTime: optionalStatsTime(hostFacts.bootTime),
        cpu,
        memory,
        io,
        network: sample.network && networkStats(sample.network),
        fs: nodeFsStats(sample.root?.usage.readAt ?? now, files.rootFs),
        runtime: files.imageFs && { imageFs: files.imageFs, containerFs: files.containerFs },
        rlimit: { time: statsTime(now), ...hostFacts.taskStats() },
        swap,
      },
      pods: pods.map((pod) => podStats(pod, podFiles.get(pod.uid) ?? NO_FILES)),
    };
  }

  /** Measures the disk usage of the running pods with these UIDs, without reading their cgroups. */
  async podDiskUsage(uids: readonly string[], signal: AbortSignal): Promise<readonly PodStats[]> {
    const pods = await unlessAborted(this.#options.collector.runningPods(), signal);
    return this.#measurePods(
      pods.filter(({ uid, containers }) => containers.length > 0 && uids.includes(uid)),
      signal,
    );
  }

  /**
   * Measures a resource of the running pods with these UIDs, without CPU rates. Reads only what the resource requires,
   * because reading all files of all pods would aggravate a shortage.
   */
  async podUsage(
    uids: readonly string[],
    resource: MeasuredResource,
    signal: AbortSignal,
  ): Promise<readonly PodStats[]> {
    if (resource === 'ephemeral-storage' || resource === 'inodes') return this.podDiskUsage(uids, signal);
    const sample = await this.#options.collector.sample(RANKING_SAMPLES[resource], signal, EVICTION_MAX_AGE_MS);
    const pods = runningPods(sample).filter(({ uid }) => uids.includes(uid));
    return resource === 'everything' ? this.#measurePods(pods, signal) : pods.map((pod) => podStats(pod, NO_FILES));
  }

  async #measurePods(pods: readonly PodSample[], signal: AbortSignal): Promise<readonly PodStats[]> {
    const fileSystems = await unlessAborted(this.#readFileSystems(), signal);
    const podFiles = await unlessAborted(this.#measureFiles(pods, fileSystems), signal);
    return pods.map((pod) => podStats(pod, podFiles.get(pod.uid) ?? NO_FILES));
  }

  /**
   * Returns a sample with CPU rates. Without a recent previous sample, takes two samples, because a rate is the
   * difference between two samples.
   */
  async #sampleWithRates(kind: SampleKind, signal: AbortSignal, maxAgeMs?: number): Promise<NodeSample> {
    const { collector, wait } = this.#options;
    const sample = await collector.sample(kind, signal, maxAgeMs);
    if (sample.hasRates) return sample;
    await wait(SAMPLE_PAUSE_MS, signal);
    return collector.sample(kind, signal, SAMPLE_PAUSE_MS);
  }

  #rootStats({ root }: NodeSample) {
    return root && cgroupStats(root, this.#options.hostFacts.memoryTotals);
  }

  /**
   * Returns the statistics of the cgroup of all pods and of the agent's cgroup. The agent's start time is the start
   * time of this provider (`summary_sys_containers.go` in `pkg/kubelet/server/stats`). The kubelet's other system
   * containers cannot be configured in this agent.
   */
  #systemContainers({ allPods, agent }: NodeSample, includesIo: boolean): readonly ContainerStats[] | undefined {
    const createContainerStats = (
      name: string,
      sample: CgroupSample,
      startedAt: number | undefined,
    ): ContainerStats => {
      const { io, cpu, memory, swap } = cgroupStats(sample);
      return { name, startTime: optionalStatsTime(startedAt), cpu, memory, ...(includesIo ? { io } : {}), swap };
    };
    const containers = [
      ...(allPods
        ? [createContainerStats('pods', allPods, this.#options.hostFacts.cgroupCreationTime(allPods.path))]
        : []),
      ...(agent ? [createContainerStats('kubelet', agent, this.#startedAt)] : []),
    ];
    return containers.length > 0 ? containers : undefined;
  }

  /** Reads the usage of the file systems and of the writable layers. */
  async #readFileSystems() {
    const { cri, signal, rootDirectory, volumes } = this.#options;
    const options = { signal, timeoutMs: RUNTIME_TIMEOUT_MS };
    const [rootFs, listed, images] = await Promise.all([
      readFileSystemUsage(rootDirectory, signal),
      cri.listContainerStats({ filter: undefined }, options).catch(() => ({ stats: [] })),
      cri.imageFsInfo({}, options).catch(() => undefined),
      volumes.refresh(),
    ]);
    const layerUsages = new Map<string, LayerUsage>();
    for (const { attributes, writableLayer } of listed.stats) {
      if (attributes && writableLayer) layerUsages.set(attributes.id, layerUsage(writableLayer));
    }
    const [imageLayer, separateLayer] = [images?.imageFilesystems[0], images?.containerFilesystems[0]].map(
      (fileSystem) => fileSystem && layerUsage(fileSystem),
    );
    const containerLayer = separateLayer ?? imageLayer;
    const layerMountPoints = new Set(
      [...layerUsages.values(), imageLayer, containerLayer].flatMap((layer) => layer?.mountpoint ?? []),
    );
    const layerFs = await this.#fileSystemUsages([...layerMountPoints].filter((mountPoint) => mountPoint !== ''));
    return {
      rootFs,
      layers: layerUsages,
      layerFs,
      imageFs: imageLayer && layerFsStats(imageLayer, layerFs),
      // The container file system is the image file system unless the runtime reports a separate one for writable
      // layers.
      containerFs: containerLayer && layerFsStats(containerLayer, layerFs),
    };
  }

  async #fileSystemUsages(mountPoints: readonly string[]): Promise<MeasurementContext['layerFs']> {
    const usages = mountPoints.map(
      async (mountPoint) => [mountPoint, await readFileSystemUsage(mountPoint, this.#options.signal)] as const,
    );
    return new Map(await Promise.all(usages));
  }

  /** Measures the files of all pods. The result is keyed by pod UID. */
  async #measureFiles(
    pods: readonly PodSample[],
    { rootFs, layers: layerUsages, layerFs }: Pick<MeasurementContext, 'rootFs' | 'layers' | 'layerFs'>,
  ): Promise<ReadonlyMap<string, PodFiles>> {
    const { layout, clock, volumes, signal } = this.#options;
    const measurementContext = {
      layout,
      now: clock.now(),
      rootFs,
      layers: layerUsages,
      layerFs,
      volumes: (uid: string) => volumes.volumesOf(uid),
    };
    const limit = startTimeLimit(FILES_TIMEOUT_MS);
    try {
      const timeoutSignal = AbortSignal.any([signal, limit.signal]);
      const measurements = pods.map(async (pod) => {
        // The measurement may fail, because pods of other agents may have names that this agent does not accept in
        // paths.
        const files = await unlessAborted(measurePodFiles(pod, measurementContext), timeoutSignal).catch(
          () => NO_FILES,
        );
        return [pod.uid, files] as const;
      });
      return new Map(await Promise.all(measurements));
    } finally {
      limit.clear();
    }
  }
}

const NO_FILES: PodFiles = { containers: new Map(), volumes: [] };

/** Returns the pods with at least one running container. */
const runningPods = ({ pods }: NodeSample): readonly PodSample[] =>
  pods.filter(({ containers }) => containers.length > 0);

function nodeFsStats(readAt: number, fs: FileSystemUsage | undefined): FsStats | undefined {
  return fs && fsStats(readAt, fs, { bytes: fs.usedBytes, inodes: fs.inodes - fs.inodesFree });
}

/** Combines the usage that the runtime reports with the kernel's statistics of the file system. */
function layerFsStats(
  { readAt, mountpoint, usedBytes, inodesUsed }: LayerUsage,
  layerFs: MeasurementContext['layerFs'],
): FsStats {
  return { ...fsStats(readAt, layerFs.get(mountpoint)), usedBytes, inodesUsed };
}
