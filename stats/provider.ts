/** The one who tells what a node and its pods use: nobody else asks cgroups, the runtime or the disk for it. */

import { startLimit } from '../base/limit.ts';
import { unlessAborted } from '../base/unlessAborted.ts';
import type { Cri } from '../cri/calls.ts';
import { type FileSystemUsage, fileSystemUsage } from '../host/usage/fileSystemUsage.ts';
import { cgroupStats } from './cgroupStats.ts';
import type { Collector } from './collector.ts';
import { type LayerUsage, layerOf } from './criUsage.ts';
import type { HostFacts } from './hostFacts.ts';
import { Moment } from './moment.ts';
import { type FilesGround, fsStats, type PodFiles, podFiles } from './podFiles.ts';
import { networkStats, podStats } from './podStats.ts';
import type { CgroupSample, NodeSample, PodSample, SampleKind } from './sample.ts';
import type { StatsClock } from './statsClock.ts';
import { type ContainerStats, type FsStats, type Summary, timeOf } from './summary.ts';
import type { VolumeUsage } from './volumeUsage.ts';

export interface StatsParts {
  readonly nodeName: string;
  readonly collector: Pick<Collector, 'sample'>;
  readonly cri: Pick<Cri, 'listContainerStats' | 'imageFsInfo'>;
  readonly facts: HostFacts;
  readonly layout: FilesGround['layout'];
  readonly rootDirectory: string;
  readonly volumes: Pick<VolumeUsage, 'of' | 'refresh'>;
  readonly clock: StatsClock;
  /** Waits so many milliseconds, or until the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends all that is underway. */
  readonly signal: AbortSignal;
}

/** What is asked for cpu and memory alone is asked again and again: twice in this time (ms) it is answered alike. */
const FRESH_MS = 1_000;
/** How old all of it may be, in milliseconds; its sample may be older than that by its own age. */
const WHOLE_MS = 5_000;
const CALL_MS = 5_000;
/** How long all files of pods may take, in milliseconds: what a disk does not answer is not told. */
const FILES_MS = 10_000;
/** Pause before the second sample when there was no sample recently, in milliseconds. */
const BETWEEN_MS = 500;

/** Summaries of the node, and the sample that they are of; what cannot be found out is left out of them. */
export class StatsProvider {
  readonly #parts: StatsParts;
  readonly #whole: Moment<Summary>;

  /** Milliseconds since the epoch. */
  readonly #startedAt: number;

  constructor(parts: StatsParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    this.#whole = new Moment({ make: () => this.#summarize(), clock: parts.clock });
  }

  /** All of it, by one sample and one look at the disk for all who ask within some seconds. */
  whole(signal: AbortSignal, maxAgeMs = WHOLE_MS): Promise<Summary> {
    return this.#whole.get(maxAgeMs, signal);
  }

  /**
   * Summarizes what needs neither the disk nor more calls to the runtime than lists. `failure` is the error of a runtime that
   * has not listed its containers.
   */
  async cpuAndMemory(signal: AbortSignal): Promise<{ readonly summary: Summary; readonly failure?: unknown }> {
    const sample = await this.#parts.collector.sample('cpuAndMemory', signal, FRESH_MS);
    return { summary: this.#cpuAndMemoryOf(sample), failure: sample.failure };
  }

  /** Summarizes the same with CPU rates, for which a first sample is followed by a second one. */
  async usage(signal: AbortSignal): Promise<Summary> {
    return this.#cpuAndMemoryOf(await this.#sampleWithRates('cpuAndMemory', signal, FRESH_MS));
  }

  #cpuAndMemoryOf(sample: NodeSample): Summary {
    const { cpu, memory, swap } = this.#root(sample) ?? {};
    return {
      node: {
        nodeName: this.#parts.nodeName,
        systemContainers: this.#systemContainers(sample, false),
        startTime: timeOf(this.#parts.facts.bootTime),
        cpu,
        memory,
        swap,
      },
      pods: running(sample).map((pod) => podStats(pod)),
    };
  }

  async #summarize(): Promise<Summary> {
    const { clock, facts, nodeName } = this.#parts;
    const [sample, files] = await Promise.all([this.#sampleWithRates('everything', this.#parts.signal), this.#disk()]);
    const { cpu, memory, io, swap } = this.#root(sample) ?? {};
    const pods = running(sample);
    const onDisk = await this.#filesOf(pods, files);
    const now = clock.now();
    return {
      node: {
        nodeName,
        systemContainers: this.#systemContainers(sample, true),
        startTime: timeOf(facts.bootTime),
        cpu,
        memory,
        io,
        network: sample.network && networkStats(sample.network),
        fs: nodeFs(sample.root?.usage.readAt ?? now, files.rootFs),
        runtime: files.imageFs && { imageFs: files.imageFs, containerFs: files.imageFs },
        rlimit: { time: timeOf(now), ...facts.tasks() },
        swap,
      },
      pods: pods.map((pod) => podStats(pod, onDisk.get(pod.uid) ?? NO_FILES)),
    };
  }

  /** Takes a second sample after a first one, because CPU rates are the difference between two samples. */
  async #sampleWithRates(kind: SampleKind, signal: AbortSignal, maxAgeMs?: number): Promise<NodeSample> {
    const { collector, pause } = this.#parts;
    const sample = await collector.sample(kind, signal, maxAgeMs);
    if (sample.hasRates) return sample;
    await pause(BETWEEN_MS, signal);
    return collector.sample(kind, signal, BETWEEN_MS);
  }

  #root({ root }: NodeSample) {
    return root && cgroupStats(root, this.#parts.facts.totals);
  }

  /**
   * The cgroups of all pods and of the agent, which starts when this provider does (`summary_sys_containers.go` in
   * `pkg/kubelet/server/stats`). The other parts of the host have no cgroups that are configured.
   */
  #systemContainers({ allPods, agent }: NodeSample, isWhole: boolean): readonly ContainerStats[] | undefined {
    const container = (name: string, sample: CgroupSample, startedAt: number): ContainerStats => {
      const { io, cpu, memory, swap } = cgroupStats(sample);
      return { name, startTime: timeOf(startedAt), cpu, memory, ...(isWhole ? { io } : {}), swap };
    };
    const containers = [
      ...(allPods ? [container('pods', allPods, this.#parts.facts.madeAt(allPods.path))] : []),
      ...(agent ? [container('kubelet', agent, this.#startedAt)] : []),
    ];
    return containers.length > 0 ? containers : undefined;
  }

  /** What the disk and the runtime say of file systems. */
  async #disk() {
    const { cri, signal, rootDirectory, volumes } = this.#parts;
    const options = { signal, timeoutMs: CALL_MS };
    const [rootFs, listed, images] = await Promise.all([
      fileSystemUsage(rootDirectory, signal),
      cri.listContainerStats({ filter: undefined }, options).catch(() => ({ stats: [] })),
      cri.imageFsInfo({}, options).catch(() => undefined),
      volumes.refresh(),
    ]);
    const layers = new Map<string, LayerUsage>();
    for (const { attributes, writableLayer } of listed.stats) {
      if (attributes && writableLayer) layers.set(attributes.id, layerOf(writableLayer));
    }
    const imageLayer = images?.imageFilesystems[0] && layerOf(images.imageFilesystems[0]);
    const places = new Set(
      [...layers.values(), ...(imageLayer ? [imageLayer] : [])].map(({ mountpoint }) => mountpoint),
    );
    const layerFs = await this.#fileSystems([...places].filter((place) => place !== ''));
    return { rootFs, layers, layerFs, imageFs: imageLayer && imageFsOf(imageLayer, layerFs) };
  }

  async #fileSystems(places: readonly string[]): Promise<FilesGround['layerFs']> {
    const found = places.map(async (place) => [place, await fileSystemUsage(place, this.#parts.signal)] as const);
    return new Map(await Promise.all(found));
  }

  /** By uid. */
  async #filesOf(
    pods: readonly PodSample[],
    { rootFs, layers, layerFs }: Pick<FilesGround, 'rootFs' | 'layers' | 'layerFs'>,
  ): Promise<ReadonlyMap<string, PodFiles>> {
    const { layout, clock, volumes, signal } = this.#parts;
    const ground = { layout, now: clock.now(), rootFs, layers, layerFs, volumes: (uid: string) => volumes.of(uid) };
    const limit = startLimit(FILES_MS);
    try {
      const until = AbortSignal.any([signal, limit.signal]);
      const found = pods.map(async (pod) => {
        // Pods of others may have names that lead nowhere here.
        const files = await unlessAborted(podFiles(pod, ground), until).catch(() => NO_FILES);
        return [pod.uid, files] as const;
      });
      return new Map(await Promise.all(found));
    } finally {
      limit.end();
    }
  }
}

const NO_FILES: PodFiles = { containers: new Map(), volumes: [] };

/** Pods of which no container runs are not told. */
const running = ({ pods }: NodeSample): readonly PodSample[] => pods.filter(({ containers }) => containers.length > 0);

function nodeFs(at: number, fs: FileSystemUsage | undefined): FsStats | undefined {
  return fs && fsStats(at, fs, { bytes: fs.usedBytes, inodes: fs.inodes - fs.inodesFree });
}

/** What images take is the runtime's word, how full their file system is the kernel's. */
function imageFsOf(
  { readAt, mountpoint, usedBytes, inodesUsed }: LayerUsage,
  layerFs: FilesGround['layerFs'],
): FsStats {
  return { ...fsStats(readAt, layerFs.get(mountpoint)), usedBytes, inodesUsed };
}
