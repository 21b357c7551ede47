import type * as wire from '../../generated/runtime.ts';
import { CallError, isRuntimeDownError } from '../faults/callError.ts';
import { CALL_STAGES, startWork } from '../faults/cutOff.ts';
import { expandId, findById, requireById } from '../objects/byId.ts';
import { notifySandboxChange } from '../objects/effects.ts';
import { NameRegistry } from '../objects/nameRegistry.ts';
import type { Network } from '../objects/network.ts';
import { matchesLabels, type RuntimeRecords, SandboxRecord } from '../objects/records.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Containers } from './containers.ts';
import { sandboxInfo } from './info.ts';
import type { ListResults } from './listResults.ts';
import { toContainerStatus, toSandboxStatus } from './statuses.ts';

/** Implements the sandbox calls and stores the sandbox records. */
export class Sandboxes {
  readonly #context: RuntimeContext;
  readonly #records: RuntimeRecords;
  readonly #containers: Containers;
  readonly #listResults: ListResults;
  readonly #network: Network;
  readonly names = new NameRegistry('sandbox');

  constructor(
    context: RuntimeContext,
    records: RuntimeRecords,
    containers: Containers,
    listResults: ListResults,
    network: Network,
  ) {
    this.#context = context;
    this.#records = records;
    this.#containers = containers;
    this.#listResults = listResults;
    this.#network = network;
  }

  async run(
    { config, runtimeHandler }: wire.RunPodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RunPodSandboxResponse> {
    if (!config?.metadata) throw new CallError('UNKNOWN', 'sandbox config must include metadata');
    this.#assertHandlerExists(runtimeHandler);
    const id = this.#context.generateId();
    const configCopy = structuredClone(config);
    const metadata = { ...config.metadata };
    const reservedName = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
    const createdAt = this.#context.clock.now();
    const pid = this.#context.generatePid();
    const record = new SandboxRecord({
      id,
      reservedName,
      metadata,
      config: configCopy,
      runtimeHandler,
      createdAt,
      pid,
    });
    this.names.reserve(reservedName, id);
    const { ms, getProgress } = startWork(this.#context, this.#context.getLatency('runPodSandbox'));
    try {
      if (!record.onHostNetwork) this.#network.attach(record);
      await this.#context.simulateWork('runPodSandbox', signal, ms);
    } catch (error) {
      if (isRuntimeDownError(error)) this.#interruptCreation(record, getProgress());
      else this.#rollBackCreation(record);
      throw error;
    }
    this.#records.sandboxes.set(id, record);
    notifySandboxChange(this.#context, 'created', record);
    notifySandboxChange(this.#context, 'started', record);
    return { podSandboxId: id };
  }

  async stop({ podSandboxId }: wire.StopPodSandboxRequest, signal: AbortSignal): Promise<wire.StopPodSandboxResponse> {
    await this.#context.simulateWork('stopPodSandbox', signal);
    const errorPrefix = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const findSandbox = this.#context.rejectsAbsentStops ? requireById : findById;
    const record = findSandbox(this.#records.sandboxes, podSandboxId, errorPrefix);
    if (record) await this.#stop(record, signal);
    return {};
  }

  async remove(
    { podSandboxId }: wire.RemovePodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RemovePodSandboxResponse> {
    await this.#context.simulateWork('removePodSandbox', signal);
    const errorPrefix = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const record = findById(this.#records.sandboxes, podSandboxId, errorPrefix);
    if (!record) return {};
    await this.#stop(record, signal);
    for (const container of this.#containers.listIn(record)) this.#containers.assertRemovable(container);
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListPodSandboxRequest, signal: AbortSignal): Promise<wire.ListPodSandboxResponse> {
    await this.#context.simulateWork('listPodSandbox', signal);
    const listedSandboxes = this.#listResults.sandboxes();
    if (!filter) return { items: [...listedSandboxes] };
    const expandedFilter = { ...filter, id: expandId(this.#records.sandboxes, filter.id) };
    return { items: listedSandboxes.filter((sandbox) => matchesFilter(sandbox, expandedFilter)) };
  }

  async status(
    { podSandboxId, verbose }: wire.PodSandboxStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatusResponse> {
    await this.#context.simulateWork('podSandboxStatus', signal);
    const record = requireById(this.#records.sandboxes, podSandboxId, 'an error occurred when try to find sandbox');
    const info = verbose ? sandboxInfo(record) : {};
    return { status: toSandboxStatus(record), info, containersStatuses: [], timestamp: 0n };
  }

  async update(
    { podSandboxId }: wire.UpdatePodSandboxResourcesRequest,
    signal: AbortSignal,
  ): Promise<wire.UpdatePodSandboxResourcesResponse> {
    await this.#context.simulateWork('updatePodSandboxResources', signal);
    requireById(this.#records.sandboxes, podSandboxId, 'failed to find sandbox');
    return {};
  }

  /** Returns the statuses of a sandbox and its containers for events, or undefined if the sandbox does not exist. */
  podStatuses(id: string): Pick<wire.ContainerEventResponse, 'podSandboxStatus' | 'containersStatuses'> | undefined {
    const record = this.#records.sandboxes.get(id);
    if (!record) return undefined;
    return {
      podSandboxStatus: toSandboxStatus(record),
      containersStatuses: this.#containers
        .listIn(record)
        .map((record) => toContainerStatus(record, this.#context.reportsContainerUsers)),
    };
  }

  /**
   * Kills the process of a sandbox. The sandbox becomes not ready. Its containers continue to run, and its address
   * stays allocated.
   */
  kill(record: SandboxRecord): void {
    if (!record.ready) return;
    record.ready = false;
    notifySandboxChange(this.#context, 'ended', record);
  }

  /** Removes the records of a sandbox and its containers immediately. */
  drop(record: SandboxRecord): void {
    if (!this.#records.sandboxes.has(record.id)) return;
    this.kill(record);
    for (const container of this.#containers.listIn(record)) this.#containers.drop(container);
    this.#records.sandboxes.delete(record.id);
    this.#network.release(record);
    this.names.release(record.reservedName);
    notifySandboxChange(this.#context, 'removed', record);
  }

  #assertHandlerExists(name: string): void {
    const { runtimeHandlers } = this.#context;
    if (name === '' || runtimeHandlers === undefined || runtimeHandlers.includes(name)) return;
    throw new CallError('UNKNOWN', `failed to get sandbox runtime: no runtime for "${name}" is configured`);
  }

  /** Stops a sandbox in the order of a real runtime: containers, sandbox process, network. */
  async #stop(record: SandboxRecord, signal: AbortSignal): Promise<void> {
    await this.#containers.killAll(record, signal);
    this.kill(record);
    if (!record.onHostNetwork) this.#network.detach(record);
  }

  /**
   * Rolls back the failed creation of a sandbox. Its name stays reserved until the rollback is complete. If the network
   * cannot be torn down, the sandbox remains in the not ready state.
   */
  #rollBackCreation(record: SandboxRecord): void {
    if (this.#network.problem !== undefined && !record.onHostNetwork) {
      this.#markNotReady(record);
      return;
    }
    this.#network.release(record);
    const { clock, getLatency } = this.#context;
    const releaseName = () => this.names.release(record.reservedName);
    const ms = getLatency('stopPodSandbox');
    if (ms > 0) clock.setTimeout(releaseName, ms);
    else releaseName();
  }

  #interruptCreation(record: SandboxRecord, progressFraction: number): void {
    if (progressFraction < CALL_STAGES.networkAttached) this.#network.release(record);
    if (progressFraction < CALL_STAGES.sandboxRecorded) this.names.release(record.reservedName);
    else this.#markNotReady(record);
  }

  #markNotReady(record: SandboxRecord): void {
    record.ready = false;
    this.#records.sandboxes.set(record.id, record);
    notifySandboxChange(this.#context, 'created', record);
  }
}

function matchesFilter(sandbox: wire.PodSandbox, filter: wire.PodSandboxFilter): boolean {
  if (filter.id && sandbox.id !== filter.id) return false;
  if (filter.state && sandbox.state !== filter.state.state) return false;
  return matchesLabels(sandbox.labels, filter.labelSelector);
}
