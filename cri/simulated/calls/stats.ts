/** Computes plausible resource usage of simulated containers and pods, derived from the state of the runtime. */
import * as wire from '../../generated/runtime.ts';
import { millisToNanos } from '../clock.ts';
import { CallError } from '../faults/callError.ts';
import { expandId, requireById } from '../objects/byId.ts';
import {
  type ContainerRecord,
  matchesLabels,
  type RuntimeRecords,
  type SandboxRecord,
  toListedContainer,
  toListedSandbox,
} from '../objects/records.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Images } from './images.ts';
import { IMAGE_FILESYSTEM } from './info.ts';

/** CPU usage of a running container in nanocores, equal to a hundredth of a core. */
const CONTAINER_NANO_CORES = 10_000_000;
/** CPU time that a sandbox's process has used, in nanoseconds. */
const SANDBOX_CPU_NANOSECONDS = 20_000_000;
/** Memory that a sandbox's process uses, in bytes. */
const SANDBOX_MEMORY_BYTES = 256 * 1024;
/** Usage of each container's writable layer. */
const LAYER_USAGE = { bytes: 32 * 1024, inodes: 8 };
const INODES_PER_IMAGE = 400;
const NETWORK_BYTES_PER_SECOND = { received: 200, sent: 100 };

/** Implements the calls that report resource usage. */
export class Stats {
  readonly #context: RuntimeContext;
  readonly #records: RuntimeRecords;
  readonly #images: Images;

  constructor(context: RuntimeContext, records: RuntimeRecords, images: Images) {
    this.#context = context;
    this.#records = records;
    this.#images = images;
  }

  async container(
    { containerId }: wire.ContainerStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ContainerStatsResponse> {
    await this.#context.simulateWork('containerStats', signal);
    const record = requireById(this.#records.containers, containerId, 'failed to find container');
    if (record.lifecycle.state !== 'running') throw new CallError('UNKNOWN', 'unexpected metrics response: []');
    return { stats: this.#containerStats(record) };
  }

  async listContainers(
    { filter }: wire.ListContainerStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ListContainerStatsResponse> {
    await this.#context.simulateWork('listContainerStats', signal);
    const id = expandId(this.#records.containers, filter?.id ?? '');
    const sandboxId = expandId(this.#records.sandboxes, filter?.podSandboxId ?? '');
    const matchingContainers = [...this.#records.containers.values()].filter(
      (container) =>
        (id === '' || container.id === id) &&
        (sandboxId === '' || container.sandbox.id === sandboxId) &&
        matchesLabels(container.labels, filter?.labelSelector ?? {}),
    );
    return { stats: matchingContainers.map((each) => this.#containerStats(each)) };
  }

  async sandbox(
    { podSandboxId }: wire.PodSandboxStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatsResponse> {
    await this.#context.simulateWork('podSandboxStats', signal);
    const errorPrefix = `an error occurred when trying to find sandbox ${podSandboxId}`;
    return { stats: this.#toSandboxStats(requireById(this.#records.sandboxes, podSandboxId, errorPrefix)) };
  }

  /**
   * Lists the stats of sandboxes. With a filter, only ready sandboxes match. Without a filter, the call fails if any
   * sandbox is not ready.
   */
  async listSandboxes(
    { filter }: wire.ListPodSandboxStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ListPodSandboxStatsResponse> {
    await this.#context.simulateWork('listPodSandboxStats', signal);
    const sandboxes = [...this.#records.sandboxes.values()];
    const id = expandId(this.#records.sandboxes, filter?.id ?? '');
    const matchesFilter = ({ id: own, ready, labels }: SandboxRecord) =>
      ready && (id === '' || own === id) && matchesLabels(labels, filter?.labelSelector ?? {});
    return { stats: (filter ? sandboxes.filter(matchesFilter) : sandboxes).map((each) => this.#toSandboxStats(each)) };
  }

  async imageFs(_: wire.ImageFsInfoRequest, signal: AbortSignal): Promise<wire.ImageFsInfoResponse> {
    await this.#context.simulateWork('imageFsInfo', signal);
    const inodes = this.#images.listed().length * INODES_PER_IMAGE + this.#layerCount() * LAYER_USAGE.inodes;
    return { imageFilesystems: [this.#filesystemUsage(this.imageFsBytes(), inodes)], containerFilesystems: [] };
  }

  /** Returns the number of bytes that images and writable layers use. */
  imageFsBytes(): number {
    const images = this.#images.listed();
    return images.reduce((sum, { size }) => sum + Number(size), this.#layerCount() * LAYER_USAGE.bytes);
  }

  #layerCount(): number {
    return this.#records.containers.size + this.#records.sandboxes.size;
  }

  #now(): bigint {
    return millisToNanos(this.#context.clock.now());
  }

  #filesystemUsage(bytes: number, inodes: number): wire.FilesystemUsage {
    return {
      timestamp: this.#now(),
      fsId: { mountpoint: IMAGE_FILESYSTEM },
      usedBytes: toUInt64(bytes),
      inodesUsed: toUInt64(inodes),
    };
  }

  #containerStats(record: ContainerRecord): wire.ContainerStats {
    const { id, metadata, labels, annotations } = toListedContainer(record);
    const writableLayer = this.#filesystemUsage(LAYER_USAGE.bytes, LAYER_USAGE.inodes);
    const attributes = { id, metadata, labels, annotations };
    if (record.lifecycle.state !== 'running') return wire.ContainerStats.fromPartial({ attributes, writableLayer });
    const cpu = this.#toCpuUsage(this.#usedCpuNanoseconds(record), CONTAINER_NANO_CORES);
    return { ...wire.ContainerStats.create(), attributes, cpu, memory: this.#memory(record), writableLayer };
  }

  #usedCpuNanoseconds({ lifecycle }: ContainerRecord): number {
    if (lifecycle.state !== 'running') return 0;
    return Math.max(1, ((this.#context.clock.now() - lifecycle.startedAt) * CONTAINER_NANO_CORES) / 1000);
  }

  #toCpuUsage(usedNanoseconds: number, nanoCores: number): wire.CpuUsage {
    return wire.CpuUsage.fromPartial({
      timestamp: this.#now(),
      usageCoreNanoSeconds: toUInt64(usedNanoseconds),
      usageNanoCores: toUInt64(nanoCores),
    });
  }

  #memory({ memoryBytes, config }: ContainerRecord): wire.MemoryUsage {
    const limit = Number(config.linux?.resources?.memoryLimitInBytes ?? 0n);
    return this.#toMemoryUsage(memoryBytes, Math.max(0, limit - memoryBytes));
  }

  #toMemoryUsage(bytes: number, availableBytes: number): wire.MemoryUsage {
    return wire.MemoryUsage.fromPartial({
      timestamp: this.#now(),
      workingSetBytes: toUInt64(bytes),
      availableBytes: toUInt64(availableBytes),
      usageBytes: toUInt64(bytes),
      rssBytes: toUInt64(bytes),
      pageFaults: toUInt64(bytes / 4096),
      majorPageFaults: toUInt64(0),
    });
  }

  #toSandboxStats(record: SandboxRecord): wire.PodSandboxStats {
    assertHasStats(record);
    const { id, metadata, labels, annotations } = toListedSandbox(record);
    const containers = [...this.#records.containers.values()].filter(({ sandbox }) => sandbox === record);
    const runningContainers = containers.filter(({ lifecycle }) => lifecycle.state === 'running');
    const cpu = runningContainers.reduce((sum, each) => sum + this.#usedCpuNanoseconds(each), SANDBOX_CPU_NANOSECONDS);
    const memory = runningContainers.reduce((sum, { memoryBytes }) => sum + memoryBytes, SANDBOX_MEMORY_BYTES);
    const linux = {
      ...wire.LinuxPodSandboxStats.create(),
      cpu: this.#toCpuUsage(cpu, runningContainers.length * CONTAINER_NANO_CORES),
      memory: this.#toMemoryUsage(memory, 0),
      network: record.onHostNetwork ? undefined : this.#network(record),
      process: { timestamp: this.#now(), processCount: toUInt64(runningContainers.length) },
      containers: containers.map((each) => this.#containerStats(each)),
    };
    return { attributes: { id, metadata, labels, annotations }, linux, windows: undefined };
  }

  #network({ createdAt }: SandboxRecord): wire.NetworkUsage {
    const seconds = (this.#context.clock.now() - createdAt) / 1000;
    const rxBytes = toUInt64(seconds * NETWORK_BYTES_PER_SECOND.received);
    const txBytes = toUInt64(seconds * NETWORK_BYTES_PER_SECOND.sent);
    const errorCounts = { rxErrors: toUInt64(0), txErrors: toUInt64(0) };
    const defaultInterface = { name: 'eth0', rxBytes, txBytes, ...errorCounts };
    return { timestamp: this.#now(), defaultInterface, interfaces: [] };
  }
}

/** Throws containerd's error if the sandbox has no stats. */
function assertHasStats({ id, ready, cgroupParent }: SandboxRecord): void {
  if (cgroupParent === '') {
    const message = `failed to get cgroup metrics for sandbox ${id} because cgroupPath is empty`;
    throw new CallError('UNKNOWN', `failed getting metrics for sandbox ${id}: ${message}`);
  }
  if (ready) return;
  const message = `failed to get pod sandbox stats since sandbox container "${id}" is not in ready state`;
  throw new CallError('UNKNOWN', `failed to decode pod sandbox metrics ${id}: ${message}`);
}

function toUInt64(amount: number): wire.UInt64Value {
  return { value: BigInt(Math.trunc(amount)) };
}
