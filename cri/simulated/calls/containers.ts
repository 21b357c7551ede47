import { messageOf } from '../../../base/failure.ts';
import type * as wire from '../../generated/runtime.ts';
import { LinuxContainerResources, type UpdateContainerResourcesRequest } from '../../generated/runtime.ts';
import { waitForEvent } from '../clock.ts';
import { CallError, isRuntimeDownError } from '../faults/callError.ts';
import { CALL_STAGES, startWork } from '../faults/cutOff.ts';
import { expandId, findById, requireById } from '../objects/byId.ts';
import { notifyContainerChange } from '../objects/effects.ts';
import { fullImageName } from '../objects/imageName.ts';
import { NameRegistry } from '../objects/nameRegistry.ts';
import {
  ContainerRecord,
  containerStateName,
  isRunning,
  matchesLabels,
  type RuntimeRecords,
  type SandboxRecord,
} from '../objects/records.ts';
import { exitWithStartError, runContainer, type StartRules } from '../objects/running.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Images } from './images.ts';
import { containerInfo } from './info.ts';
import type { ListResults } from './listResults.ts';
import { toContainerStatus } from './statuses.ts';

/** Implements the container calls and stores the container records. */
export class Containers {
  readonly #context: RuntimeContext;
  readonly #records: RuntimeRecords;
  readonly #listResults: ListResults;
  readonly #images: Images;
  readonly #startRules: StartRules;
  readonly names = new NameRegistry('container');

  constructor(context: RuntimeContext, records: RuntimeRecords, lists: ListResults, images: Images, rules: StartRules) {
    this.#context = context;
    this.#records = records;
    this.#listResults = lists;
    this.#images = images;
    this.#startRules = rules;
  }

  async create(
    { podSandboxId, config, sandboxConfig }: wire.CreateContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.CreateContainerResponse> {
    const sandbox = this.#requireReadySandbox(podSandboxId);
    if (!config?.metadata) throw new CallError('UNKNOWN', 'container config must include metadata');
    const { name, attempt } = config.metadata;
    const pod = sandboxConfig?.metadata ?? sandbox.metadata;
    const reservedName = [name, pod.name, pod.namespace, pod.uid, attempt].join('_');
    const id = this.#context.generateId();
    this.names.reserve(reservedName, id);
    let image: ContainerRecord['image'];
    try {
      image = this.#resolveImage(config.image?.image ?? '');
      await this.#context.simulateWork('createContainer', signal);
      this.#requireReadySandbox(podSandboxId);
    } catch (error) {
      this.names.release(reservedName);
      throw error;
    }
    const createdAt = this.#context.clock.now();
    const configCopy = structuredClone(config);
    const metadata = { name, attempt };
    const record = new ContainerRecord({ id, reservedName, sandbox, metadata, config: configCopy, image, createdAt });
    this.#records.containers.set(id, record);
    notifyContainerChange(this.#context, 'created', record);
    return { containerId: id };
  }

  async start({ containerId }: wire.StartContainerRequest, signal: AbortSignal): Promise<wire.StartContainerResponse> {
    const record = this.#requireContainer(containerId);
    const startError = startRefusal(record);
    if (startError) {
      throw new CallError('UNKNOWN', `failed to set starting state for container "${record.id}": ${startError}`);
    }
    record.lifecycle = { state: 'created', starting: true };
    const { ms, getProgress } = startWork(this.#context, this.#context.getLatency('startContainer'));
    try {
      this.#assertSandboxReady(record);
      await this.#context.simulateWork('startContainer', signal, ms);
      this.#assertSandboxReady(record);
      runContainer(this.#context, record, this.#startRules);
    } catch (error) {
      record.lifecycle = { state: 'created', starting: false };
      if (!isRuntimeDownError(error)) exitWithStartError(this.#context, record, messageOf(error));
      else if (getProgress() >= CALL_STAGES.containerStarted) runContainer(this.#context, record, this.#startRules);
      throw error;
    }
    return {};
  }

  async stop(
    { containerId, timeout }: wire.StopContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.StopContainerResponse> {
    const record = this.#context.rejectsAbsentStops
      ? this.#requireContainer(containerId)
      : this.#findContainer(containerId);
    if (record) await this.#terminate(record, Number(timeout) * 1000, signal);
    await this.#context.simulateWork('stopContainer', signal);
    return {};
  }

  async remove(
    { containerId }: wire.RemoveContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.RemoveContainerResponse> {
    const record = this.#findContainer(containerId);
    if (!record) return {};
    await this.#terminate(record, 0, signal);
    this.assertRemovable(record);
    record.isRemoving = true;
    try {
      await this.#context.simulateWork('removeContainer', signal);
    } finally {
      record.isRemoving = false;
    }
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListContainersRequest, signal: AbortSignal): Promise<wire.ListContainersResponse> {
    await this.#context.simulateWork('listContainers', signal);
    const listedContainers = this.#listResults.containers();
    if (!filter) return { containers: [...listedContainers] };
    const id = expandId(this.#records.containers, filter.id);
    const podSandboxId = expandId(this.#records.sandboxes, filter.podSandboxId);
    return {
      containers: listedContainers.filter((container) => matchesFilter(container, { ...filter, id, podSandboxId })),
    };
  }

  async status(
    { containerId, verbose }: wire.ContainerStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.ContainerStatusResponse> {
    await this.#context.simulateWork('containerStatus', signal);
    const record = this.#requireContainer(containerId);
    return {
      status: toContainerStatus(record, this.#context.reportsContainerUsers),
      info: verbose ? containerInfo(record) : {},
    };
  }

  /** Does nothing, because there are no log files. */
  async reopenLog(
    { containerId }: wire.ReopenContainerLogRequest,
    signal: AbortSignal,
  ): Promise<wire.ReopenContainerLogResponse> {
    await this.#context.simulateWork('reopenContainerLog', signal);
    if (!isRunning(this.#requireContainer(containerId))) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  /** Checks the container like containerd 2, but does not write a checkpoint. */
  async checkpoint(
    { containerId }: wire.CheckpointContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.CheckpointContainerResponse> {
    await this.#context.simulateWork('checkpointContainer', signal);
    const record = requireById(this.#records.containers, containerId, 'failed to find container');
    if (!isRunning(record)) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  async update(
    request: wire.UpdateContainerResourcesRequest,
    signal: AbortSignal,
  ): Promise<wire.UpdateContainerResourcesResponse> {
    await this.#context.simulateWork('updateContainerResources', signal);
    const record = requireById(this.#records.containers, request.containerId, 'failed to find container');
    updateResources(record, request);
    return {};
  }

  listIn(sandbox: SandboxRecord): ContainerRecord[] {
    return [...this.#records.containers.values()].filter((record) => record.sandbox === sandbox);
  }

  /** Kills the containers of a sandbox and waits until their exits are reported. */
  async killAll(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    await Promise.all(this.listIn(sandbox).map((record) => this.#terminate(record, 0, signal)));
  }

  /** Removes the record of a container, killing it if it is running. */
  drop(record: ContainerRecord): void {
    if (!this.#records.containers.delete(record.id)) return;
    if (record.lifecycle.state === 'running') record.lifecycle.process.signal('SIGKILL');
    this.names.release(record.reservedName);
    notifyContainerChange(this.#context, 'removed', record);
  }

  async #terminate(record: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#terminateProcess(record, graceMs, signal);
    record.hasUnknownState = false;
  }

  async #terminateProcess({ lifecycle }: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    if (lifecycle.state !== 'running') return;
    if (graceMs > 0) {
      lifecycle.process.signal('SIGTERM');
      if (await waitForEvent(lifecycle.exitPromise, this.#context.clock, graceMs, signal)) return;
    }
    lifecycle.process.signal('SIGKILL');
    await waitForEvent(lifecycle.exitPromise, this.#context.clock, undefined, signal);
  }

  /** Throws if the container cannot be removed in its current state. */
  assertRemovable(record: ContainerRecord): void {
    const removeError = removalRefusal(record);
    if (removeError === undefined) return;
    throw new CallError('UNKNOWN', `failed to set removing state for container "${record.id}": ${removeError}`);
  }

  #requireContainer(id: string): ContainerRecord {
    return requireById(this.#records.containers, id, `an error occurred when try to find container "${id}"`);
  }

  #findContainer(id: string): ContainerRecord | undefined {
    return findById(this.#records.containers, id, `an error occurred when try to find container "${id}"`);
  }

  #requireReadySandbox(id: string): SandboxRecord {
    const sandbox = requireById(this.#records.sandboxes, id, `failed to find sandbox id "${id}"`);
    if (sandbox.ready) return sandbox;
    const reason = `no running task found: task ${sandbox.id} not found: not found`;
    throw new CallError('NOT_FOUND', `failed to get sandbox container task: ${reason}`);
  }

  #assertSandboxReady({ sandbox }: ContainerRecord): void {
    requireById(this.#records.sandboxes, sandbox.id, `sandbox "${sandbox.id}" not found`);
    if (!sandbox.ready) throw new CallError('UNKNOWN', `sandbox container "${sandbox.id}" is not running`);
  }

  #resolveImage(name: string): ContainerRecord['image'] {
    const image = this.#images.find(name);
    if (!image) throw new CallError('NOT_FOUND', `failed to resolve image "${name}": not found`);
    const [tag = fullImageName(name)] = image.repoTags;
    return { id: image.id, name: tag, digest: image.repoDigests[0] ?? image.id };
  }
}

function startRefusal(record: ContainerRecord): string | undefined {
  if (record.lifecycle.state !== 'created') return `container is in ${containerStateName(record)} state`;
  if (record.isRemoving) return "container is in removing state, can't be started";
  return record.lifecycle.starting ? 'container is already in starting state' : undefined;
}

function removalRefusal({ lifecycle, isRemoving }: ContainerRecord): string | undefined {
  if (lifecycle.state === 'created' && lifecycle.starting) return "container is in starting state, can't be removed";
  return isRemoving ? 'container is already in removing state' : undefined;
}

function matchesFilter(container: wire.Container, filter: wire.ContainerFilter): boolean {
  if (filter.id && container.id !== filter.id) return false;
  if (filter.podSandboxId && container.podSandboxId !== filter.podSandboxId) return false;
  if (filter.state && container.state !== filter.state.state) return false;
  return matchesLabels(container.labels, filter.labelSelector);
}

/** Updates the resources of a container. This also works for a container that is not running yet. */
function updateResources(record: ContainerRecord, { linux }: UpdateContainerResourcesRequest): void {
  if (record.isRemoving) {
    throw new CallError('UNKNOWN', `failed to update resources: container "${record.id}" is in removing state`);
  }
  if (linux === undefined || record.config.linux === undefined) return;
  const currentResources = LinuxContainerResources.fromPartial(record.config.linux.resources ?? {});
  // A field that is 0 or empty leaves the resource unchanged, as in containerd.
  record.config.linux.resources = {
    cpuPeriod: linux.cpuPeriod || currentResources.cpuPeriod,
    cpuQuota: linux.cpuQuota || currentResources.cpuQuota,
    cpuShares: linux.cpuShares || currentResources.cpuShares,
    memoryLimitInBytes: linux.memoryLimitInBytes || currentResources.memoryLimitInBytes,
    oomScoreAdj: linux.oomScoreAdj || currentResources.oomScoreAdj,
    cpusetCpus: linux.cpusetCpus || currentResources.cpusetCpus,
    cpusetMems: linux.cpusetMems || currentResources.cpusetMems,
    hugepageLimits: linux.hugepageLimits.length > 0 ? linux.hugepageLimits : currentResources.hugepageLimits,
    unified: { ...currentResources.unified, ...linux.unified },
    memorySwapLimitInBytes: linux.memorySwapLimitInBytes || currentResources.memorySwapLimitInBytes,
  };
}
