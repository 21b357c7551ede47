import type { Cri } from '../../cri/client/calls.ts';
import {
  ContainerConfig,
  ContainerFilter,
  ContainerState,
  NamespaceMode,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxState,
} from '../../cri/generated/runtime.ts';

export interface ScenarioInput {
  readonly cri: Cri;
  /** An image on the node with a busybox shell. */
  readonly image: string;
  /** Prefix of the names, which makes them unique in the runtime. */
  readonly uid: string;
  readonly signal: AbortSignal;
  /** Waits for this number of milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/** An ID that the runtime does not have. */
export const NOBODY = 'f'.repeat(64);

/** The calls of a scenario in short form: pods by name, IDs as the runtime assigns them, states by name. */
export class Actions {
  readonly #input: ScenarioInput;
  readonly #nameOf = new Map([[NOBODY, '<nobody>']]);

  constructor(input: ScenarioInput) {
    this.#input = input;
  }

  wait(ms: number): Promise<void> {
    return this.#input.wait(ms);
  }

  async sandbox(pod: string, network: NamespaceMode = NamespaceMode.POD): Promise<string> {
    const { cri, signal } = this.#input;
    const config = this.#sandboxConfig(pod, network);
    const { podSandboxId } = await cri.runPodSandbox({ config, runtimeHandler: '' }, { signal });
    this.#nameOf.set(podSandboxId, `<sandbox ${pod}>`);
    return podSandboxId;
  }

  async container(
    podSandboxId: string,
    pod: string,
    name: string,
    command: readonly string[],
    attempt = 0,
    image = this.#input.image,
  ): Promise<string> {
    const { cri, signal, uid } = this.#input;
    const config = ContainerConfig.create({
      metadata: { name, attempt },
      image: { image },
      command: [...command],
      labels: { scenario: uid, pod, container: name },
      annotations: { restartCount: '2' },
      linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
    });
    const sandboxConfig = this.#sandboxConfig(pod, NamespaceMode.POD);
    const { containerId } = await cri.createContainer({ podSandboxId, config, sandboxConfig }, { signal });
    this.#nameOf.set(containerId, `<container ${pod}/${name}/${attempt}>`);
    return containerId;
  }

  async start(containerId: string): Promise<void> {
    await this.#input.cri.startContainer({ containerId }, this.#input);
  }

  async stop(containerId: string, seconds: number): Promise<void> {
    await this.#input.cri.stopContainer({ containerId, timeout: BigInt(seconds) }, this.#input);
  }

  async removeContainer(containerId: string): Promise<void> {
    await this.#input.cri.removeContainer({ containerId }, this.#input);
  }

  async stopSandbox(podSandboxId: string): Promise<void> {
    await this.#input.cri.stopPodSandbox({ podSandboxId }, this.#input);
  }

  async removeSandbox(podSandboxId: string): Promise<void> {
    await this.#input.cri.removePodSandbox({ podSandboxId }, this.#input);
  }

  async exec(containerId: string, cmd: string[], timeout = 10n): Promise<number> {
    return (await this.#input.cri.execSync({ containerId, cmd, timeout }, this.#input)).exitCode;
  }

  /** Runs a container that exits within `ms`, and returns its state after the exit. */
  async runToEnd(sandbox: string, pod: string, name: string, command: readonly string[], ms: number): Promise<unknown> {
    const id = await this.container(sandbox, pod, name, command);
    await this.start(id);
    await this.wait(ms);
    // A busy runtime reports the exit late.
    for (let tries = 0; tries < 40 && (await this.isRunning(id)); tries += 1) await this.wait(250);
    return this.containerState(id);
  }

  async isRunning(containerId: string): Promise<boolean> {
    const { status } = await this.#input.cri.containerStatus({ containerId, verbose: false }, this.#input);
    return status?.state === ContainerState.CONTAINER_RUNNING;
  }

  /** Runs a container, and stops it with this grace period. */
  async runAndStop(
    sandbox: string,
    pod: string,
    name: string,
    command: readonly string[],
    seconds: number,
  ): Promise<unknown> {
    const id = await this.container(sandbox, pod, name, command);
    await this.start(id);
    await this.wait(300);
    await this.stop(id, seconds);
    return this.containerState(id);
  }

  /** Removes a running container. */
  async removeRunning(sandbox: string, pod: string, name: string, command: readonly string[]): Promise<void> {
    const id = await this.container(sandbox, pod, name, command);
    await this.start(id);
    await this.removeContainer(id);
  }

  /** Returns a summary such as `SANDBOX_READY with an address`. */
  async sandboxState(podSandboxId: string): Promise<string> {
    const { status } = await this.#input.cri.podSandboxStatus({ podSandboxId, verbose: false }, this.#input);
    return `${nameIn(PodSandboxState, status?.state)} ${status?.network?.ip ? 'with' : 'without'} an address`;
  }

  async sandboxDetails(podSandboxId: string): Promise<unknown> {
    const { status } = await this.#input.cri.podSandboxStatus({ podSandboxId, verbose: false }, this.#input);
    return {
      id: status?.id,
      metadata: status?.metadata,
      created: isRecent(status?.createdAt),
      labels: status?.labels,
      annotations: status?.annotations,
      network: nameIn(NamespaceMode, status?.linux?.namespaces?.options?.network),
    };
  }

  /** Returns a summary such as `CONTAINER_EXITED 137 Error, created started finished`. */
  async containerState(containerId: string): Promise<string> {
    const { status } = await this.#input.cri.containerStatus({ containerId, verbose: false }, this.#input);
    const times = { created: status?.createdAt, started: status?.startedAt, finished: status?.finishedAt };
    const known = Object.entries(times).flatMap(([name, time]) => (isRecent(time) ? [name] : []));
    const parts = [nameIn(ContainerState, status?.state), status?.exitCode, status?.reason, status?.message];
    return `${parts.filter((part) => part !== '').join(' ')}, ${known.join(' ')}`;
  }

  async containerDetails(containerId: string): Promise<unknown> {
    const { status } = await this.#input.cri.containerStatus({ containerId, verbose: false }, this.#input);
    const { id, metadata, image, labels, annotations } = status ?? {};
    return { id, metadata, image: image?.image, labels, annotations };
  }

  /** Returns the names and states of this scenario's containers that match the filter, sorted. */
  async list(filter: Partial<ContainerFilter>): Promise<readonly string[]> {
    const whole = { ...ContainerFilter.create(), ...filter };
    whole.labelSelector = { ...whole.labelSelector, scenario: this.#input.uid };
    const { containers } = await this.#input.cri.listContainers({ filter: whole }, this.#input);
    return containers.map(({ id, state }) => `${this.#nameOf.get(id)} ${nameIn(ContainerState, state)}`).sort();
  }

  /** Returns the names and states of this scenario's sandboxes that match the filter, sorted. */
  async listSandboxes(filter: Partial<PodSandboxFilter>): Promise<readonly string[]> {
    const whole = { ...PodSandboxFilter.create(), ...filter };
    whole.labelSelector = { ...whole.labelSelector, scenario: this.#input.uid };
    const { items } = await this.#input.cri.listPodSandbox({ filter: whole }, this.#input);
    return items.map(({ id, state }) => `${this.#nameOf.get(id)} ${nameIn(PodSandboxState, state)}`).sort();
  }

  /** Returns a container as the list shows it. */
  async listedDetails(id: string): Promise<unknown> {
    const filter = { ...ContainerFilter.create(), id };
    const { containers } = await this.#input.cri.listContainers({ filter }, this.#input);
    return containers.map(({ podSandboxId, metadata, image, labels, annotations }) => {
      return { podSandboxId, metadata, image: image?.image, labels, annotations };
    });
  }

  /** Returns the observations with IDs and the scenario's UID replaced by names. */
  plain(observations: Record<string, unknown>): Record<string, unknown> {
    let text = JSON.stringify(observations);
    for (const [id, name] of this.#nameOf) text = text.replaceAll(id, name);
    return JSON.parse(text.replaceAll(this.#input.uid, '<uid>'));
  }

  #sandboxConfig(pod: string, network: NamespaceMode): PodSandboxConfig {
    const { uid } = this.#input;
    return PodSandboxConfig.create({
      metadata: { name: pod, namespace: 'scenario', uid, attempt: 0 },
      hostname: network === NamespaceMode.NODE ? '' : pod,
      labels: { scenario: uid, pod },
      annotations: { note: 'from a scenario' },
      linux: { securityContext: { namespaceOptions: { network, pid: NamespaceMode.CONTAINER } } },
    });
  }
}

function nameIn(names: Readonly<Record<string, number>>, value: number | undefined): string {
  return Object.keys(names).find((name) => names[name] === value) ?? String(value);
}

/** Whether a time is set, and is in nanoseconds of this century. */
function isRecent(nanoseconds: bigint | undefined): boolean {
  return nanoseconds !== undefined && nanoseconds > 946_684_800n * 1_000_000_000n;
}
