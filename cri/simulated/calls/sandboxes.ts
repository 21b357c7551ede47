import type * as wire from '../../generated/runtime.ts';
import { CallError, isRuntimeDownError } from '../faults/callError.ts';
import { CALL_STAGES, startWork } from '../faults/cutOff.ts';
import { expandId, findById, requireById } from '../objects/byId.ts';
import { notifySandboxChange } from '../objects/effects.ts';
import { NameRegistry } from '../objects/names.ts';
import type { Network } from '../objects/network.ts';
import { matchesLabels, type Records, SandboxRecord } from '../objects/records.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Containers } from './containers.ts';
import { sandboxInfo } from './info.ts';
import type { ListResults } from './lists.ts';
import { toContainerStatus, toSandboxStatus } from './statuses.ts';

/** Implements the calls on sandboxes, and stores their records. */
export class Sandboxes {
  readonly #context: RuntimeContext;
  readonly #records: Records;
  readonly #containers: Containers;
  readonly #lists: ListResults;
  readonly #network: Network;
  readonly names = new NameRegistry('sandbox');

  constructor(context: RuntimeContext, records: Records, containers: Containers, lists: ListResults, network: Network) {
    this.#context = context;
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
    this.#assertHandlerExists(runtimeHandler);
    const id = this.#context.newId();
    const copy = structuredClone(config);
    const metadata = { ...config.metadata };
    const reservedName = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
    const createdAt = this.#context.clock.now();
    const pid = this.#context.newPid();
    const record = new SandboxRecord({ id, reservedName, metadata, config: copy, runtimeHandler, createdAt, pid });
    this.names.reserve(reservedName, id);
    const { ms, progress } = startWork(this.#context, this.#context.latencyOf('runPodSandbox'));
    try {
      if (!record.onHostNetwork) this.#network.attach(record);
      await this.#context.work('runPodSandbox', signal, ms);
    } catch (error) {
      if (isRuntimeDownError(error)) this.#interruptCreation(record, progress());
      else this.#rollBackCreation(record);
      throw error;
    }
    this.#records.sandboxes.set(id, record);
    notifySandboxChange(this.#context, 'created', record);
    notifySandboxChange(this.#context, 'started', record);
    return { podSandboxId: id };
  }

  async stop({ podSandboxId }: wire.StopPodSandboxRequest, signal: AbortSignal): Promise<wire.StopPodSandboxResponse> {
    await this.#context.work('stopPodSandbox', signal);
    const errorPrefix = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const find = this.#context.absentStopsFail ? requireById : findById;
    const record = find(this.#records.sandboxes, podSandboxId, errorPrefix);
    if (record) await this.#stop(record, signal);
    return {};
  }

  async remove(
    { podSandboxId }: wire.RemovePodSandboxRequest,
    signal: AbortSignal,
  ): Promise<wire.RemovePodSandboxResponse> {
    await this.#context.work('removePodSandbox', signal);
    const errorPrefix = `an error occurred when try to find sandbox "${podSandboxId}"`;
    const record = findById(this.#records.sandboxes, podSandboxId, errorPrefix);
    if (!record) return {};
    await this.#stop(record, signal);
    for (const container of this.#containers.listIn(record)) this.#containers.assertRemovable(container);
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListPodSandboxRequest, signal: AbortSignal): Promise<wire.ListPodSandboxResponse> {
    await this.#context.work('listPodSandbox', signal);
    const listed = this.#lists.sandboxes();
    if (!filter) return { items: [...listed] };
    const fullFilter = { ...filter, id: expandId(this.#records.sandboxes, filter.id) };
    return { items: listed.filter((sandbox) => matches(sandbox, fullFilter)) };
  }

  async status(
    { podSandboxId, verbose }: wire.PodSandboxStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.PodSandboxStatusResponse> {
    await this.#context.work('podSandboxStatus', signal);
    const record = requireById(this.#records.sandboxes, podSandboxId, 'an error occurred when try to find sandbox');
    const info = verbose ? sandboxInfo(record) : {};
    return { status: toSandboxStatus(record), info, containersStatuses: [], timestamp: 0n };
  }

  /** Returns the statuses of a sandbox and its containers for events, or undefined if the sandbox does not exist. */
  podStatuses(id: string): Pick<wire.ContainerEventResponse, 'podSandboxStatus' | 'containersStatuses'> | undefined {
    const record = this.#records.sandboxes.get(id);
    if (!record) return undefined;
    return {
      podSandboxStatus: toSandboxStatus(record),
      containersStatuses: this.#containers
        .listIn(record)
        .map((record) => toContainerStatus(record, this.#context.reportsUsers)),
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
    const { handlers } = this.#context;
    if (name === '' || handlers === undefined || handlers.includes(name)) return;
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
      this.#recordNotReady(record);
      return;
    }
    this.#network.release(record);
    const { clock, latencyOf } = this.#context;
    const release = () => this.names.release(record.reservedName);
    const ms = latencyOf('stopPodSandbox');
    if (ms > 0) clock.setTimeout(release, ms);
    else release();
  }

  #interruptCreation(record: SandboxRecord, progress: number): void {
    if (progress < CALL_STAGES.sandboxAttached) this.#network.release(record);
    if (progress < CALL_STAGES.sandboxKnown) this.names.release(record.reservedName);
    else this.#recordNotReady(record);
  }

  #recordNotReady(record: SandboxRecord): void {
    record.ready = false;
    this.#records.sandboxes.set(record.id, record);
    notifySandboxChange(this.#context, 'created', record);
  }
}

function matches(listed: wire.PodSandbox, filter: wire.PodSandboxFilter): boolean {
  if (filter.id && listed.id !== filter.id) return false;
  if (filter.state && listed.state !== filter.state.state) return false;
  return matchesLabels(listed.labels, filter.labelSelector);
}
