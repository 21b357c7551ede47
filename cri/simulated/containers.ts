import { messageOf } from '../../base/failure.ts';
import type * as wire from '../generated/runtime.ts';
import { findById, requireById, wholeId } from './byId.ts';
import { CallError, isGone } from './callError.ts';
import { within } from './clock.ts';
import { beginWork, STAGES } from './cutOff.ts';
import { tellOfContainer } from './effects.ts';
import { fullImageName } from './imageName.ts';
import type { Images } from './images.ts';
import { containerInfo } from './info.ts';
import type { Lists } from './lists.ts';
import { NameRegister } from './names.ts';
import {
  ContainerRecord,
  containerStateName,
  isRunning,
  matchesLabels,
  type Records,
  type SandboxRecord,
} from './records.ts';
import { updateResources } from './resizing.ts';
import { endAsNotStarted, run, type StartRules } from './running.ts';
import { containerStatus } from './statuses.ts';
import type { World } from './world.ts';

/** The runtime's containers and the calls that concern them. */
export class Containers {
  readonly #world: World;
  readonly #records: Records;
  readonly #lists: Lists;
  readonly #images: Images;
  readonly #rules: StartRules;
  readonly names = new NameRegister('container');

  constructor(world: World, records: Records, lists: Lists, images: Images, rules: StartRules) {
    this.#world = world;
    this.#records = records;
    this.#lists = lists;
    this.#images = images;
    this.#rules = rules;
  }

  async create(
    { podSandboxId, config, sandboxConfig }: wire.CreateContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.CreateContainerResponse> {
    const sandbox = this.#readySandbox(podSandboxId);
    if (!config?.metadata) throw new CallError('UNKNOWN', 'container config must include metadata');
    const { name, attempt } = config.metadata;
    const pod = sandboxConfig?.metadata ?? sandbox.metadata;
    const reservedName = [name, pod.name, pod.namespace, pod.uid, attempt].join('_');
    const id = this.#world.newId();
    this.names.reserve(reservedName, id);
    let image: ContainerRecord['image'];
    try {
      image = this.#resolve(config.image?.image ?? '');
      await this.#world.work('createContainer', signal);
      this.#readySandbox(podSandboxId);
    } catch (error) {
      this.names.release(reservedName);
      throw error;
    }
    const createdAt = this.#world.clock.now();
    const copy = structuredClone(config);
    const metadata = { name, attempt };
    const record = new ContainerRecord({ id, reservedName, sandbox, metadata, config: copy, image, createdAt });
    this.#records.containers.set(id, record);
    tellOfContainer(this.#world, 'created', record);
    return { containerId: id };
  }

  async start({ containerId }: wire.StartContainerRequest, signal: AbortSignal): Promise<wire.StartContainerResponse> {
    const record = this.#find(containerId);
    const refusal = startRefusal(record);
    if (refusal) {
      throw new CallError('UNKNOWN', `failed to set starting state for container "${record.id}": ${refusal}`);
    }
    record.life = { state: 'created', starting: true };
    const { ms, progress } = beginWork(this.#world, this.#world.latencyOf('startContainer'));
    try {
      this.#requireSandbox(record);
      await this.#world.work('startContainer', signal, ms);
      this.#requireSandbox(record);
      run(this.#world, record, this.#rules);
    } catch (error) {
      record.life = { state: 'created', starting: false };
      if (!isGone(error)) endAsNotStarted(this.#world, record, messageOf(error));
      else if (progress() >= STAGES.containerStarted) run(this.#world, record, this.#rules);
      throw error;
    }
    return {};
  }

  async stop(
    { containerId, timeout }: wire.StopContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.StopContainerResponse> {
    const record = this.#world.absentStopsFail ? this.#find(containerId) : this.#findIfThere(containerId);
    if (record) await this.#end(record, Number(timeout) * 1000, signal);
    await this.#world.work('stopContainer', signal);
    return {};
  }

  async remove(
    { containerId }: wire.RemoveContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.RemoveContainerResponse> {
    const record = this.#findIfThere(containerId);
    if (!record) return {};
    await this.#end(record, 0, signal);
    this.requireRemovable(record);
    record.removing = true;
    try {
      await this.#world.work('removeContainer', signal);
    } finally {
      record.removing = false;
    }
    this.drop(record);
    return {};
  }

  async list({ filter }: wire.ListContainersRequest, signal: AbortSignal): Promise<wire.ListContainersResponse> {
    await this.#world.work('listContainers', signal);
    const all = this.#lists.containers();
    if (!filter) return { containers: [...all] };
    const id = wholeId(this.#records.containers, filter.id);
    const podSandboxId = wholeId(this.#records.sandboxes, filter.podSandboxId);
    return { containers: all.filter((each) => matches(each, { ...filter, id, podSandboxId })) };
  }

  async status(
    { containerId, verbose }: wire.ContainerStatusRequest,
    signal: AbortSignal,
  ): Promise<wire.ContainerStatusResponse> {
    await this.#world.work('containerStatus', signal);
    const record = this.#find(containerId);
    return { status: containerStatus(record), info: verbose ? containerInfo(record) : {} };
  }

  /** There are no log files here: whoever wants one writes it. */
  async reopenLog(
    { containerId }: wire.ReopenContainerLogRequest,
    signal: AbortSignal,
  ): Promise<wire.ReopenContainerLogResponse> {
    await this.#world.work('reopenContainerLog', signal);
    if (!isRunning(this.#find(containerId))) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  /** There are no processes, and nothing is written; the words are those of containerd 2. */
  async checkpoint(
    { containerId }: wire.CheckpointContainerRequest,
    signal: AbortSignal,
  ): Promise<wire.CheckpointContainerResponse> {
    await this.#world.work('checkpointContainer', signal);
    const record = requireById(this.#records.containers, containerId, 'failed to find container');
    if (!isRunning(record)) throw new CallError('UNKNOWN', 'container is not running');
    return {};
  }

  async update(
    request: wire.UpdateContainerResourcesRequest,
    signal: AbortSignal,
  ): Promise<wire.UpdateContainerResourcesResponse> {
    await this.#world.work('updateContainerResources', signal);
    const record = requireById(this.#records.containers, request.containerId, 'failed to find container');
    updateResources(record, request);
    return {};
  }

  /** The containers of a sandbox. */
  of(sandbox: SandboxRecord): ContainerRecord[] {
    return [...this.#records.containers.values()].filter((record) => record.sandbox === sandbox);
  }

  /** Kills what runs in a sandbox and waits until the exits show. */
  async kill(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    await Promise.all(this.of(sandbox).map((record) => this.#end(record, 0, signal)));
  }

  /** Takes a container out of the books, killing it if it runs. */
  drop(record: ContainerRecord): void {
    if (!this.#records.containers.delete(record.id)) return;
    if (record.life.state === 'running') record.life.process.signal('SIGKILL');
    this.names.release(record.reservedName);
    tellOfContainer(this.#world, 'removed', record);
  }

  async #end(record: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#endProcess(record, graceMs, signal);
    record.unknown = false;
  }

  async #endProcess({ life }: ContainerRecord, graceMs: number, signal: AbortSignal): Promise<void> {
    if (life.state !== 'running') return;
    if (graceMs > 0) {
      life.process.signal('SIGTERM');
      if (await within(life.ended, this.#world.clock, graceMs, signal)) return;
    }
    life.process.signal('SIGKILL');
    await within(life.ended, this.#world.clock, undefined, signal);
  }

  /** Fails when a container cannot be removed now. */
  requireRemovable(record: ContainerRecord): void {
    const refusal = removeRefusal(record);
    if (refusal === undefined) return;
    throw new CallError('UNKNOWN', `failed to set removing state for container "${record.id}": ${refusal}`);
  }

  #find(id: string): ContainerRecord {
    return requireById(this.#records.containers, id, `an error occurred when try to find container "${id}"`);
  }

  #findIfThere(id: string): ContainerRecord | undefined {
    return findById(this.#records.containers, id, `an error occurred when try to find container "${id}"`);
  }

  #readySandbox(id: string): SandboxRecord {
    const sandbox = requireById(this.#records.sandboxes, id, `failed to find sandbox id "${id}"`);
    if (sandbox.ready) return sandbox;
    const reason = `no running task found: task ${sandbox.id} not found: not found`;
    throw new CallError('NOT_FOUND', `failed to get sandbox container task: ${reason}`);
  }

  #requireSandbox({ sandbox }: ContainerRecord): void {
    requireById(this.#records.sandboxes, sandbox.id, `sandbox "${sandbox.id}" not found`);
    if (!sandbox.ready) throw new CallError('UNKNOWN', `sandbox container "${sandbox.id}" is not running`);
  }

  #resolve(name: string): ContainerRecord['image'] {
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
