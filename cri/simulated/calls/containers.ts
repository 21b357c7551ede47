import { messageOf } from '../../../base/failure.ts';
import type * as wire from '../../generated/runtime.ts';
import { happensWithin } from '../clock.ts';
import { CallError, isRuntimeDownError } from '../faults/callError.ts';
import { CALL_STAGES, startWork } from '../faults/cutOff.ts';
import { expandId, findById, requireById } from '../objects/byId.ts';
import { notifyContainerChange } from '../objects/effects.ts';
import { fullImageName } from '../objects/imageName.ts';
import { NameRegistry } from '../objects/names.ts';
import {
  ContainerRecord,
  containerStateName,
  isRunning,
  matchesLabels,
  type Records,
  type SandboxRecord,
} from '../objects/records.ts';
import { exitWithStartError, runContainer, type StartRules } from '../objects/running.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Images } from './images.ts';
import { containerInfo } from './info.ts';
import type { ListResults } from './lists.ts';
import { updateResources } from './resizing.ts';
import { toContainerStatus } from './statuses.ts';

/** Implements the calls on containers, and stores their records. */
export class Containers {
  readonly #context: RuntimeContext;
  readonly #records: Records;
  readonly #lists: ListResults;
  readonly #images: Images;
  readonly #startRules: StartRules;
  readonly names = new NameRegistry('container');

  constructor(context: RuntimeContext, records: Records, lists: ListResults, images: Images, rules: StartRules) {
    this.#context = context;
    this.#records = records;
    this.#lists = lists;
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
    const id = this.#context.newId();
    this.names.reserve(reservedName, id);
    let image: ContainerRecord['image'];
    try {
      image = this.#resolveImage(config.image?.image ?? '');
      await this.#context.work('createContainer', signal);
      this.#requireReadySandbox(podSandboxId);
    } catch (error) {
      this.names.release(reservedName);
      throw error;
    }
    const createdAt = this.#context.clock.now();
    const copy = structuredClone(config);
    const metadata = { name, attempt };
    const record = new ContainerRecord({ id, reservedName, sandbox, metadata, config: copy, image, createdAt });
    this.#records.containers.set(id, record);
    notifyContainerChange(this.#context, 'created', record);
    return { containerId: id };
  }

  async start({ containerId }: wire.StartContainerRequest, signal: AbortSignal): Promise<wire.StartContainerResponse> {
    const record = this.#find(containerId);
    const refusal = startRefusal(record);
    if (refusal) {
      throw new CallError('UNKNOWN', `failed to set starting state for container "${record.id}": ${refusal}`);
    }
    record.life = { state: 'created', starting: true };
    const { ms, progress } = startWork(this.#context, this.#context.latencyOf('startContainer'));
    try {
      this.#assertSandboxReady(record);
      await this.#context.work('startContainer', signal, ms);
      this.#assertSandboxReady(record);
      runContainer(this.#context, record, this.#startRules);
    } catch (error) {
      record.life = { state: 'created', starting: false };
      if (!isRuntimeDownError(error)) exitWithStartError(this.#context, record, messageOf(error));
      else if (progress() >= CALL_STAGES.containerStarted) runContainer(this.#context, record, this.#startRules);
      throw error;
    }
    return {};
  }

  async stop(
    { containerId, timeout }: wire.StopContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.StopContainerResponse> {
    const record = this.#context.absentStopsFail ? this.#find(containerId) : this.#findOptional(containerId);
    if (record) await this.#terminate(record, Number(timeout) * 1000, signal);
    await this.#context.work('stopContainer', signal);
    return {};
  }

  async remove(
    { containerId }: wire.RemoveContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.RemoveContainerResponse> {
    const record = this.#findOptional(containerId);
    if (!record) return {};
    await this.#terminate(record, 0, signal);
    this.assertRemovable(record);
    record.removing = true;
    try {
      await this.#context.work('removeContainer', signal);
    } finally {
      record.removing = false;
    }
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListContainersRequest, signal: AbortSignal): Promise<wire.ListContainersResponse> {
    await this.#context.work('listContainers', signal);
    const listed = this.#lists.containers();
    if (!filter) return { containers: [...listed] };
    const id = expandId(this.#records.containers, filter.id);
    const podSandboxId = expandId(this.#records.sandboxes, filter.podSandboxId);
    return { containers: listed.filter((container) => matches(container, { ...filter, id, podSandboxId })) };
  }

  async status(
    { containerId, verbose }: wire.ContainerStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.ContainerStatusResponse> {
    await this.#context.work('containerStatus', signal);
    const record = this.#find(containerId);
    return {
      status: toContainerStatus(record, this.#context.reportsUsers),
      info: verbose ? containerInfo(record) : {},
    };
  }

  /** Does nothing, because there are no log files. */
  async reopenLog(
    { containerId }: wire.ReopenContainerLogRequest,
    signal: AbortSignal,
  ): Promise<wire.ReopenContainerLogResponse> {
    await this.#context.work('reopenContainerLog', signal);
    if (!isRunning(this.#find(containerId))) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  /** Checks the container like containerd 2, but does not write a checkpoint. */
  async checkpoint(
    { containerId }: wire.CheckpointContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.CheckpointContainerResponse> {
    await this.#context.work('checkpointContainer', signal);
    const record = requireById(this.#records.containers, containerId, 'failed to find container');
    if (!isRunning(record)) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  async update(
    request: wire.UpdateContainerResourcesRequest,
    signal: AbortSignal,
  ): Promise<wire.UpdateContainerResourcesResponse> {
    await this.#context.work('updateContainerResources', signal);
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
    if (record.life.state === 'running') record.life.process.signal('SIGKILL');
    this.names.release(record.reservedName);
    notifyContainerChange(this.#context, 'removed', record);
  }

  async #terminate(record: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#terminateProcess(record, graceMs, signal);
    record.unknown = false;
  }

  async #terminateProcess({ life }: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    if (life.state !== 'running') return;
    if (graceMs > 0) {
      life.process.signal('SIGTERM');
      if (await happensWithin(life.ended, this.#context.clock, graceMs, signal)) return;
    }
    life.process.signal('SIGKILL');
    await happensWithin(life.ended, this.#context.clock, undefined, signal);
  }

  /** Throws if the container cannot be removed in its current state. */
  assertRemovable(record: ContainerRecord): void {
    const refusal = removeRefusal(record);
    if (refusal === undefined) return;
    throw new CallError('UNKNOWN', `failed to set removing state for container "${record.id}": ${refusal}`);
  }

  #find(id: string): ContainerRecord {
    return requireById(this.#records.containers, id, `an error occurred when try to find container "${id}"`);
  }

  #findOptional(id: string): ContainerRecord | undefined {
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
  if (record.life.state !== 'created') return `container is in ${containerStateName(record)} state`;
  if (record.removing) return "container is in removing state, can't be started";
  return record.life.starting ? 'container is already in starting state' : undefined;
}

function removeRefusal({ life, removing }: ContainerRecord): string | undefined {
  if (life.state === 'created' && life.starting) return "container is in starting state, can't be removed";
  return removing ? 'container is already in removing state' : undefined;
}

function matches(listed: wire.Container, filter: wire.ContainerFilter): boolean {
  if (filter.id && listed.id !== filter.id) return false;
  if (filter.podSandboxId && listed.podSandboxId !== filter.podSandboxId) return false;
  if (filter.state && listed.state !== filter.state.state) return false;
  return matchesLabels(listed.labels, filter.labelSelector);
}
