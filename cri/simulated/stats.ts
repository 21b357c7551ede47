/** What containers and pods use, where there are none: plausible figures that follow from what the runtime has. */
import * as wire from '../generated/runtime.ts';
import { requireById, wholeId } from './byId.ts';
import { CallError } from './callError.ts';
import { nanoseconds } from './clock.ts';
import type { Images } from './images.ts';
import { IMAGE_FILESYSTEM } from './info.ts';
import {
  type ContainerRecord,
  listedContainer,
  listedSandbox,
  matchesLabels,
  type Records,
  type SandboxRecord,
} from './records.ts';
import type { World } from './world.ts';

/** A container uses a hundredth of a core while it runs. */
const NANO_CORES = 10_000_000;
/** The processor time and the memory of a sandbox's own process. */
const SANDBOX_CPU_NANOSECONDS = 20_000_000;
const SANDBOX_MEMORY_BYTES = 256 * 1024;
/** What each container has written to its own layer. */
const LAYER = { bytes: 32 * 1024, inodes: 8 };
const INODES_OF_IMAGE = 400;
const BYTES_A_SECOND = { received: 200, sent: 100 };

/** The calls about what is used. */
export class Stats {
  readonly #world: World;
  readonly #records: Records;
  readonly #images: Images;

  constructor(world: World, records: Records, images: Images) {
    this.#world = world;
    this.#records = records;
    this.#images = images;
  }

  async container(
    { containerId }: wire.ContainerStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ContainerStatsResponse> {
    await this.#world.work('containerStats', signal);
    const record = requireById(this.#records.containers, containerId, 'failed to find container');
    if (record.life.state !== 'running') throw new CallError('UNKNOWN', 'unexpected metrics response: []');
    return { stats: this.#containerStats(record) };
  }

  async listContainers(
    { filter }: wire.ListContainerStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ListContainerStatsResponse> {
    await this.#world.work('listContainerStats', signal);
    const id = wholeId(this.#records.containers, filter?.id ?? '');
    const sandboxId = wholeId(this.#records.sandboxes, filter?.podSandboxId ?? '');
    const wanted = [...this.#records.containers.values()].filter(
      (each) =>
        (id === '' || each.id === id) &&
        (sandboxId === '' || each.sandbox.id === sandboxId) &&
        matchesLabels(each.labels, filter?.labelSelector ?? {}),
    );
    return { stats: wanted.map((each) => this.#containerStats(each)) };
  }

  async sandbox(
    { podSandboxId }: wire.PodSandboxStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatsResponse> {
    await this.#world.work('podSandboxStats', signal);
    const sentence = `an error occurred when trying to find sandbox ${podSandboxId}`;
    return { stats: this.#sandboxStats(requireById(this.#records.sandboxes, podSandboxId, sentence)) };
  }

  /** With a filter only sandboxes that are ready; without one it fails if there is another. */
  async listSandboxes(
    { filter }: wire.ListPodSandboxStatsRequest,
    signal: AbortSignal,
  ): Promise<wire.ListPodSandboxStatsResponse> {
    await this.#world.work('listPodSandboxStats', signal);
    const all = [...this.#records.sandboxes.values()];
    const id = wholeId(this.#records.sandboxes, filter?.id ?? '');
    const matches = ({ id: own, ready, labels }: SandboxRecord) =>
      ready && (id === '' || own === id) && matchesLabels(labels, filter?.labelSelector ?? {});
    return { stats: (filter ? all.filter(matches) : all).map((each) => this.#sandboxStats(each)) };
  }

  async imageFs(_: wire.ImageFsInfoRequest, signal: AbortSignal): Promise<wire.ImageFsInfoResponse> {
    await this.#world.work('imageFsInfo', signal);
    const images = this.#images.all();
    const layers = this.#records.containers.size + this.#records.sandboxes.size;
    const bytes = images.reduce((sum, { size }) => sum + Number(size), layers * LAYER.bytes);
    const usage = this.#usage(bytes, images.length * INODES_OF_IMAGE + layers * LAYER.inodes);
    return { imageFilesystems: [usage], containerFilesystems: [] };
  }

  #now(): bigint {
    return nanoseconds(this.#world.clock.now());
  }

  #usage(bytes: number, inodes: number): wire.FilesystemUsage {
    return {
      timestamp: this.#now(),
      fsId: { mountpoint: IMAGE_FILESYSTEM },
      usedBytes: value(bytes),
      inodesUsed: value(inodes),
    };
  }

  #containerStats(record: ContainerRecord): wire.ContainerStats {
    const { id, metadata, labels, annotations } = listedContainer(record);
    const writableLayer = this.#usage(LAYER.bytes, LAYER.inodes);
    const attributes = { id, metadata, labels, annotations };
    if (record.life.state !== 'running') return wire.ContainerStats.fromPartial({ attributes, writableLayer });
    const cpu = this.#cpu(this.#cpuNanoseconds(record), NANO_CORES);
    return { ...wire.ContainerStats.create(), attributes, cpu, memory: this.#memory(record), writableLayer };
  }

  #cpuNanoseconds({ life }: ContainerRecord): number {
    if (life.state !== 'running') return 0;
    return Math.max(1, ((this.#world.clock.now() - life.startedAt) * NANO_CORES) / 1000);
  }

  #cpu(usedNanoseconds: number, nanoCores: number): wire.CpuUsage {
    return wire.CpuUsage.fromPartial({
      timestamp: this.#now(),
      usageCoreNanoSeconds: value(usedNanoseconds),
      usageNanoCores: value(nanoCores),
    });
  }

  #memory({ memoryBytes, config }: ContainerRecord): wire.MemoryUsage {
    const limit = Number(config.linux?.resources?.memoryLimitInBytes ?? 0n);
    return this.#memoryUsage(memoryBytes, Math.max(0, limit - memoryBytes));
  }

  #memoryUsage(bytes: number, availableBytes: number): wire.MemoryUsage {
    return wire.MemoryUsage.fromPartial({
      timestamp: this.#now(),
      workingSetBytes: value(bytes),
      availableBytes: value(availableBytes),
      usageBytes: value(bytes),
      rssBytes: value(bytes),
      pageFaults: value(bytes / 4096),
      majorPageFaults: value(0),
    });
  }

  #sandboxStats(record: SandboxRecord): wire.PodSandboxStats {
    requireStats(record);
    const { id, metadata, labels, annotations } = listedSandbox(record);
    const containers = [...this.#records.containers.values()].filter(({ sandbox }) => sandbox === record);
    const running = containers.filter(({ life }) => life.state === 'running');
    const cpu = running.reduce((sum, each) => sum + this.#cpuNanoseconds(each), SANDBOX_CPU_NANOSECONDS);
    const memory = running.reduce((sum, { memoryBytes }) => sum + memoryBytes, SANDBOX_MEMORY_BYTES);
    const linux = {
      ...wire.LinuxPodSandboxStats.create(),
      cpu: this.#cpu(cpu, running.length * NANO_CORES),
      memory: this.#memoryUsage(memory, 0),
      network: record.onHostNetwork ? undefined : this.#network(record),
      process: { timestamp: this.#now(), processCount: value(running.length) },
      containers: containers.map((each) => this.#containerStats(each)),
    };
    return { attributes: { id, metadata, labels, annotations }, linux, windows: undefined };
  }

  #network({ createdAt }: SandboxRecord): wire.NetworkUsage {
    const seconds = (this.#world.clock.now() - createdAt) / 1000;
    const rxBytes = value(seconds * BYTES_A_SECOND.received);
    const txBytes = value(seconds * BYTES_A_SECOND.sent);
    const errors = { rxErrors: value(0), txErrors: value(0) };
    const defaultInterface = { name: 'eth0', rxBytes, txBytes, ...errors };
    return { timestamp: this.#now(), defaultInterface, interfaces: [] };
  }
}

/** Fails as containerd does of a sandbox that has no figures. */
function requireStats({ id, ready, cgroupParent }: SandboxRecord): void {
  if (cgroupParent === '') {
    const message = `failed to get cgroup metrics for sandbox ${id} because cgroupPath is empty`;
    throw new CallError('UNKNOWN', `failed getting metrics for sandbox ${id}: ${message}`);
  }
  if (ready) return;
  const message = `failed to get pod sandbox stats since sandbox container "${id}" is not in ready state`;
  throw new CallError('UNKNOWN', `failed to decode pod sandbox metrics ${id}: ${message}`);
}

function value(amount: number): wire.UInt64Value {
  return { value: BigInt(Math.trunc(amount)) };
}
