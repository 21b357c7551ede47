import type * as wire from '../generated/runtime.ts';
import { findById, requireById, wholeId } from './byId.ts';
import { CallError, isGone } from './callError.ts';
import type { Containers } from './containers.ts';
import { beginWork, STAGES } from './cutOff.ts';
import { tellOfSandbox } from './effects.ts';
import { sandboxInfo } from './info.ts';
import type { Lists } from './lists.ts';
import { NameRegister } from './names.ts';
import type { Network } from './network.ts';
import { matchesLabels, type Records, SandboxRecord } from './records.ts';
import { containerStatus, sandboxStatus } from './statuses.ts';
import type { World } from './world.ts';

/** The runtime's sandboxes and the calls that concern them. */
export class Sandboxes {
  readonly #world: World;
  readonly #records: Records;
  readonly #containers: Containers;
  readonly #lists: Lists;
  readonly #network: Network;
  readonly names = new NameRegister('sandbox');

  constructor(world: World, records: Records, containers: Containers, lists: Lists, network: Network) {
    this.#world = world;
    this.#records = records;
    this.#containers = containers;
    this.#lists = lists;
    this.#network = network;
  }

  async run(
    { config, runtimeHandler }: wire.RunPodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RunPodSandboxResponse> {
    if (!config?.metadata) throw new CallError('UNKNOWN', 'sandbox config must include metadata');
    this.#requireHandler(runtimeHandler);
    const id = this.#world.newId();
    const copy = structuredClone(config);
    const metadata = { ...config.metadata };
    const reservedName = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
    const createdAt = this.#world.clock.now();
    const pid = this.#world.newPid();
    const record = new SandboxRecord({ id, reservedName, metadata, config: copy, runtimeHandler, createdAt, pid });
    this.names.reserve(reservedName, id);
    const { ms, progress } = beginWork(this.#world, this.#world.latencyOf('runPodSandbox'));
    try {
      if (!record.onHostNetwork) this.#network.attach(record);
      await this.#world.work('runPodSandbox', signal, ms);
    } catch (error) {
      if (isGone(error)) this.#cutOff(record, progress());
      else this.#giveUp(record);
      throw error;
    }
    this.#records.sandboxes.set(id, record);
    tellOfSandbox(this.#world, 'created', record);
    tellOfSandbox(this.#world, 'started', record);
    return { podSandboxId: id };
  }

  async stop({ podSandboxId }: wire.StopPodSandboxRequest, signal: AbortSignal): Promise<wire.StopPodSandboxResponse> {
    await this.#world.work('stopPodSandbox', signal);
    const sentence = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const find = this.#world.absentStopsFail ? requireById : findById;
    const record = find(this.#records.sandboxes, podSandboxId, sentence);
    if (record) await this.#stop(record, signal);
    return {};
  }

  async remove(
    { podSandboxId }: wire.RemovePodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RemovePodSandboxResponse> {
    await this.#world.work('removePodSandbox', signal);
    const sentence = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const record = findById(this.#records.sandboxes, podSandboxId, sentence);
    if (!record) return {};
    await this.#stop(record, signal);
    for (const container of this.#containers.of(record)) this.#containers.requireRemovable(container);
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListPodSandboxRequest, signal: AbortSignal): Promise<wire.ListPodSandboxResponse> {
    await this.#world.work('listPodSandbox', signal);
    const all = this.#lists.sandboxes();
    if (!filter) return { items: [...all] };
    const whole = { ...filter, id: wholeId(this.#records.sandboxes, filter.id) };
    return { items: all.filter((each) => matches(each, whole)) };
  }

  async status(
    { podSandboxId, verbose }: wire.PodSandboxStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatusResponse> {
    await this.#world.work('podSandboxStatus', signal);
    const record = requireById(this.#records.sandboxes, podSandboxId, 'an error occurred when try to find sandbox');
    const info = verbose ? sandboxInfo(record) : {};
    return { status: sandboxStatus(record), info, containersStatuses: [], timestamp: 0n };
  }

  /** The event stream's picture of a sandbox: its status and its containers'; undefined when it is gone. */
  picture(id: string): Pick<wire.ContainerEventResponse, 'podSandboxStatus' | 'containersStatuses'> | undefined {
    const record = this.#records.sandboxes.get(id);
    if (!record) return undefined;
    return {
      podSandboxStatus: sandboxStatus(record),
      containersStatuses: this.#containers.of(record).map(containerStatus),
    };
  }

  /** Ends a sandbox's own process: it is not ready any more; its containers run on and its address stays taken. */
  kill(record: SandboxRecord): void {
    if (!record.ready) return;
    record.ready = false;
    tellOfSandbox(this.#world, 'ended', record);
  }

  /** Takes a sandbox and its containers out of the books at once. */
  drop(record: SandboxRecord): void {
    if (!this.#records.sandboxes.has(record.id)) return;
    this.kill(record);
    for (const container of this.#containers.of(record)) this.#containers.drop(container);
    this.#records.sandboxes.delete(record.id);
    this.#network.release(record);
    this.names.release(record.reservedName);
    tellOfSandbox(this.#world, 'removed', record);
  }

  #requireHandler(name: string): void {
    const { handlers } = this.#world;
    if (name === '' || handlers === undefined || handlers.includes(name)) return;
    throw new CallError('UNKNOWN', `failed to get sandbox runtime: no runtime for "${name}" is configured`);
  }

  /** In a real runtime's order: what runs in it first, then the sandbox itself, its network last. */
  async #stop(record: SandboxRecord, signal: AbortSignal): Promise<void> {
    await this.#containers.kill(record, signal);
    this.kill(record);
    if (!record.onHostNetwork) this.#network.detach(record);
  }

  /**
   * A sandbox that is given up halfway is taken down again, and its name stays reserved for as long as that takes. When
   * that is not possible it stays, not ready.
   */
  #giveUp(record: SandboxRecord): void {
    if (this.#network.problem !== undefined && !record.onHostNetwork) {
      this.#leave(record);
      return;
    }
    this.#network.release(record);
    const { clock, latencyOf } = this.#world;
    const release = () => this.names.release(record.reservedName);
    const ms = latencyOf('stopPodSandbox');
    if (ms > 0) clock.setTimeout(release, ms);
    else release();
  }

  #cutOff(record: SandboxRecord, progress: number): void {
    if (progress < STAGES.sandboxAttached) this.#network.release(record);
    if (progress < STAGES.sandboxKnown) this.names.release(record.reservedName);
    else this.#leave(record);
  }

  #leave(record: SandboxRecord): void {
    record.ready = false;
    this.#records.sandboxes.set(record.id, record);
    tellOfSandbox(this.#world, 'created', record);
  }
}

function matches(listed: wire.PodSandbox, filter: wire.PodSandboxFilter): boolean {
  if (filter.id && listed.id !== filter.id) return false;
  if (filter.state && listed.state !== filter.state.state) return false;
  return matchesLabels(listed.labels, filter.labelSelector);
}
