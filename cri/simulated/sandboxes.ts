import type * as wire from '../generated/runtime.ts';
import { NamespaceMode } from '../generated/runtime.ts';
import type { AddressPool } from './addresses.ts';
import { CallError } from './callError.ts';
import type { Containers } from './containers.ts';
import { tellOfSandbox } from './effects.ts';
import { NameRegister } from './names.ts';
import { listedSandbox, matchesLabels, type Records, SandboxRecord, sandboxState } from './records.ts';
import { containerStatus, sandboxStatus } from './statuses.ts';
import type { World } from './world.ts';

/** The runtime's sandboxes and the calls that concern them. */
export class Sandboxes {
  readonly #world: World;
  readonly #records: Records;
  readonly #containers: Containers;
  readonly #addresses: AddressPool;
  readonly #names = new NameRegister('sandbox');

  constructor(world: World, records: Records, containers: Containers, addresses: AddressPool) {
    this.#world = world;
    this.#records = records;
    this.#containers = containers;
    this.#addresses = addresses;
  }

  async run(
    { config, runtimeHandler }: wire.RunPodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RunPodSandboxResponse> {
    if (!config?.metadata) throw new CallError('UNKNOWN', 'sandbox config must include metadata');
    const metadata = { ...config.metadata };
    const reservedName = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
    const id = this.#world.newId();
    this.#names.reserve(reservedName, id);
    let ip: string | undefined;
    try {
      if (!onHostNetwork(config)) ip = this.#addresses.take(id);
      await this.#world.work('runPodSandbox', signal);
    } catch (error) {
      if (ip !== undefined) this.#addresses.giveBack(ip);
      this.#undo(reservedName);
      throw error;
    }
    const createdAt = this.#world.clock.now();
    const copy = structuredClone(config);
    const record = new SandboxRecord({ id, reservedName, metadata, config: copy, runtimeHandler, createdAt });
    if (ip !== undefined) record.ip = ip;
    this.#records.sandboxes.set(id, record);
    tellOfSandbox(this.#world, 'created', record);
    tellOfSandbox(this.#world, 'started', record);
    return { podSandboxId: id };
  }

  async stop({ podSandboxId }: wire.StopPodSandboxRequest, signal: AbortSignal): Promise<wire.StopPodSandboxResponse> {
    await this.#world.work('stopPodSandbox', signal);
    const record = this.#records.sandboxes.get(podSandboxId);
    if (record) await this.#stop(record, signal);
    else if (this.#world.absentStopsFail) throw absent(podSandboxId);
    return {};
  }

  async remove(
    { podSandboxId }: wire.RemovePodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RemovePodSandboxResponse> {
    await this.#world.work('removePodSandbox', signal);
    const record = this.#records.sandboxes.get(podSandboxId);
    if (!record) return {};
    await this.#stop(record, signal);
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListPodSandboxRequest, signal: AbortSignal): Promise<wire.ListPodSandboxResponse> {
    await this.#world.work('listPodSandbox', signal);
    const all = [...this.#records.sandboxes.values()];
    const wanted = filter ? all.filter((record) => matches(record, filter)) : all;
    return { items: wanted.map(listedSandbox) };
  }

  async status(
    { podSandboxId }: wire.PodSandboxStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatusResponse> {
    await this.#world.work('podSandboxStatus', signal);
    const record = this.#records.sandboxes.get(podSandboxId);
    if (!record) throw new CallError('NOT_FOUND', 'an error occurred when try to find sandbox: not found');
    return { status: sandboxStatus(record), info: {}, containersStatuses: [], timestamp: 0n };
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
    this.#giveBackAddress(record);
    this.#names.release(record.reservedName);
    tellOfSandbox(this.#world, 'removed', record);
  }

  async #stop(record: SandboxRecord, signal: AbortSignal): Promise<void> {
    this.kill(record);
    this.#giveBackAddress(record);
    await this.#containers.kill(record, signal);
  }

  /** A sandbox that is given up halfway is taken down again, and its name stays reserved for as long as that takes. */
  #undo(name: string): void {
    const { clock, latencyOf } = this.#world;
    const release = () => this.#names.release(name);
    const ms = latencyOf('stopPodSandbox');
    if (ms > 0) clock.setTimeout(release, ms);
    else release();
  }

  #giveBackAddress(record: SandboxRecord): void {
    if (record.ip !== undefined) this.#addresses.giveBack(record.ip);
    delete record.ip;
  }
}

function absent(id: string): CallError {
  return new CallError('NOT_FOUND', `an error occurred when try to find sandbox "${id}": not found`);
}

function onHostNetwork({ linux }: wire.PodSandboxConfig): boolean {
  return linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

function matches(record: SandboxRecord, filter: wire.PodSandboxFilter): boolean {
  if (filter.id && record.id !== filter.id) return false;
  if (filter.state && sandboxState(record) !== filter.state.state) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}
