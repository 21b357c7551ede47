/**
 * The complete node agent on the simulated runtime: real machines, services and disk, simulated time and containers.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { AnyActorRef } from 'xstate';
import type { RecordedInput } from '../../actors/boundary.ts';
import { currentAddresses } from '../../actors/feeds/addresses.ts';
import { createNode } from '../../actors/node/createNode.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { completeConfig, type NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { createChangeDetector } from '../../actors/sources/changeDetector.ts';
import { type NodeStore, openNodeStore } from '../../actors/store/durableFacts.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { CallName, LoggedCall } from '../../cri/simulated/faults/callNames.ts';
import type { SimulatedRuntimeOptions } from '../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../cri/simulated/runtime.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { type PodRef, podView } from '../../machines/shared/views/views.ts';
import { type ShownPod, shownPod } from '../kubernetes/views.ts';
import { cgroupFacts } from './cgroups.ts';
import { type Connection, connect, type Death } from './connection.ts';
import { IMAGE } from './pods.ts';

export interface SimulatedNodeOptions {
  /** The pods that the source wants from the start. */
  readonly pods?: readonly Pod[];
  /** Whether static pods are read from real files in `manifestDir` instead. */
  readonly fromFiles?: boolean;
  readonly runtime?: Partial<Omit<SimulatedRuntimeOptions, 'clock'>>;
  /** Whether the runtime has an event stream. Default: true. */
  readonly eventStream?: boolean;
  readonly config?: NextConfig;
  /** Whether the source reports nothing until the first `apply`, `remove` or `tellSource`. */
  readonly silentSource?: boolean;
  readonly death?: Death;
  /** Wraps the store of the agent. */
  readonly store?: (real: NodeStore) => NodeStore;
  /**
   * Creates the cluster of the node on the clock of the node. The directory is for files that the cluster stores on
   * disk.
   */
  readonly clusterOf?: (clock: SimulatedClock, directory: string) => NonNullable<NodeParts['cluster']>;
  /** Replaced parts of the node, and additional observers. */
  readonly parts?: Omit<NodeParts, 'cri' | 'clock' | 'openStore' | 'onError' | 'onManifestProblem'>;
}

type NextConfig = Partial<Omit<NodeAgentConfig, 'nodeName' | 'rootDir' | 'podLogsDir'>>;

const NODE_NAME = 'node-1';
const HOST_IP = '192.0.2.1';
const nodes: SimulatedNode[] = [];

/** Starts a node, which stops at the end of the test. When this returns, nothing has happened but the start itself. */
export async function simulatedNode(options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-node-'));
  const node = new SimulatedNode(directory, options);
  nodes.push(node);
  await mkdir(node.manifestDir);
  await node.startAgent(options.death);
  return node;
}

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.end();
});

export class SimulatedNode {
  readonly clock = new SimulatedClock();
  readonly runtime: SimulatedRuntime;
  readonly manifestDir: string;
  /** The inputs of the actors of the current agent. */
  entries: RecordedInput[] = [];
  /** The errors that services threw and feeds reported. */
  readonly errors: string[] = [];
  /** The reported problems of manifests. */
  readonly manifestProblems: string[] = [];
  readonly #directory: string;
  readonly #options: SimulatedNodeOptions;
  readonly #wanted = new Map<string, Pod>();
  #agent: NodeAgent | undefined;
  #root: AnyActorRef | undefined;
  #connection: Connection | undefined;
  #nextConfig: NextConfig = {};
  #nextParts: SimulatedNodeOptions['parts'] = {};
  #tellSource = () => {};
  readonly #cluster: NodeParts['cluster'];

  constructor(directory: string, options: SimulatedNodeOptions) {
    this.#directory = directory;
    this.#options = options;
    this.manifestDir = join(directory, 'manifests');
    const images = { present: [IMAGE], ...options.runtime?.images };
    this.runtime = createSimulatedRuntime({ clock: this.clock, ...options.runtime, images });
    this.#cluster = options.clusterOf?.(this.clock, directory);
    for (const pod of options.pods ?? []) this.#wanted.set(pod.metadata.name, pod);
  }

  /** Starts a new agent on the same runtime, disk and source, as after a crash. The previous agent must be dead. */
  async startAgent(death?: Death): Promise<void> {
    const { silentSource = false, fromFiles, eventStream = true } = this.#options;
    const parts = { ...this.#options.parts, ...this.#nextParts };
    const connection = connect({ runtime: this.runtime, eventStream, death, onDeath: () => this.killAgent() });
    const sources = fromFiles ? {} : { sources: this.#source(silentSource) };
    this.entries = [];
    this.#connection = connection;
    this.#agent = await createNode(this.#config, {
      jitter: () => 0.5,
      readImageDisk: async () => this.runtime.imageDisk(),
      ...parts,
      ...(this.#cluster ? { cluster: this.#cluster } : {}),
      cri: connection.cri,
      clock: this.clock,
      openStore: (...where) => this.#openStore(...where),
      inspect: (event) => {
        // All actors here are XState actors.
        const ref = event.actorRef as AnyActorRef;
        if (ref._parent === undefined) this.#root = ref;
        parts.inspect?.(event);
      },
      feeds: { ...sources, ...parts.feeds },
      onInput: (entry) => {
        this.entries.push(entry);
        parts.onInput?.(entry);
      },
      onError: (source, error) => void this.errors.push(`${source}: ${String(error)}`),
      onManifestProblem: (_level, _file, path, message) => this.manifestProblems.push(`${path}: ${message}`),
    });
    this.#agent.start();
  }

  /** The killed agent does not write what is still pending, as after a SIGKILL. */
  async #openStore(...where: Parameters<typeof openNodeStore>): ReturnType<typeof openNodeStore> {
    const { store, durable } = await openNodeStore(...where);
    return { store: { ...(this.#options.store?.(store) ?? store), close: async () => {} }, durable };
  }

  /** Kills the agent at once, and leaves everything else unchanged, as after a SIGKILL. */
  killAgent(): void {
    this.#connection?.cut();
    void this.#agent?.stop();
    this.#agent = undefined;
    this.#tellSource = () => {};
  }

  async restartAgent(death?: Death): Promise<void> {
    this.killAgent();
    await this.clock.advance(0);
    await this.startAgent(death);
  }

  /** Changes the configuration for the next agent. */
  reconfigure(config: NextConfig): void {
    this.#nextConfig = config;
  }

  /** Replaces parts for the next agent. */
  withParts(parts: SimulatedNodeOptions['parts']): void {
    this.#nextParts = parts;
  }

  /** Adds these pods to the source, or updates them. */
  apply(...pods: readonly Pod[]): void {
    for (const pod of pods) this.#wanted.set(pod.metadata.name, pod);
    this.#tellSource();
  }

  /** Removes these pods from the source. */
  remove(...names: readonly string[]): void {
    for (const name of names) this.#wanted.delete(name);
    this.#tellSource();
  }

  /** Makes the source report its full set again. */
  tellSource(): void {
    this.#tellSource();
  }

  /** Advances time by a duration, e.g. `20s`, `500ms` or `2m`. */
  advance(duration: string): Promise<void> {
    return this.clock.advance(milliseconds(duration));
  }

  get isAlive(): boolean {
    return this.#agent !== undefined;
  }

  get agent(): NodeAgent {
    return present(this.#agent, 'agent');
  }

  /** The calls of the current agent or, if it is dead, of the last one. */
  get agentCalls(): readonly CallName[] {
    return this.#connection?.calls ?? [];
  }

  has(name: string): boolean {
    return this.views().some(({ pod }) => pod.metadata.name === name);
  }

  /** Returns the status of a pod, or of the last pod if several have the name. */
  pod(name: string): PodStatus {
    const match = this.agent.pods().findLast(({ metadata }) => metadata.name === name);
    return present(match?.status, `pod ${name}`);
  }

  /** Returns the pods as the actors of the node show them. */
  views(): ShownPod[] {
    return Array.from(this.agent.trees(), ([uid, tree]) => {
      const ref: PodRef | undefined = this.#root?.getSnapshot().children[`pod/${uid}`];
      const pod = this.agent.pods().find(({ metadata }) => metadata.uid === uid);
      if (ref) return shownPod(podView(ref), tree);
      const nothing = {
        containers: [],
        volumes: [],
        isInitialized: false,
        isUnsettled: true,
        hasEnded: false,
        isReclaimed: false,
      };
      return shownPod({ pod: present(pod, `pod ${uid}`), tags: tree.tags, ...nothing }, tree);
    });
  }

  view(name: string): ShownPod {
    return present(
      this.views().findLast(({ pod }) => pod.metadata.name === name),
      `pod ${name}`,
    );
  }

  /** Returns the status of a container or an init container. */
  container(pod: string, name = 'main'): ContainerStatus {
    const { initContainerStatuses = [], containerStatuses = [] } = this.pod(pod);
    const match = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
    return present(match, `container ${name} of pod ${pod}`);
  }

  containerView(pod: string, name = 'main'): ShownPod['containers'][number] {
    return present(
      this.view(pod).containers.find((container) => container.name === name),
      `container ${name} of pod ${pod}`,
    );
  }

  /** Returns the ID of a container at the runtime. */
  containerId(pod: string, name = 'main'): string {
    return present(this.containerView(pod, name).containerId, `container of ${pod}/${name} at the runtime`);
  }

  sandboxId(pod: string): string {
    return present(this.view(pod).sandbox?.id, `sandbox of ${pod}`);
  }

  /** Returns the calls of these kinds that have reached the runtime. */
  calls(...kinds: readonly CallName[]): readonly LoggedCall[] {
    return this.runtime.calls.filter(({ call }) => kinds.includes(call));
  }

  path(...parts: readonly string[]): string {
    return join(this.#directory, ...parts);
  }

  /** Returns everything that a node without pods should not have: at the runtime, on disk and in the agent. */
  async leftovers(): Promise<string[]> {
    const { sandboxes, containers } = this.runtime.contents();
    const folders = [
      'pods',
      'logs/pods',
      'logs/containers',
      'root/pods',
      'root/statelet/allocations',
      'root/statelet/containerEnds',
      'root/statelet/statuses',
      'root/statelet/unacknowledged',
    ];
    const files = await Promise.all(
      folders.map(async (folder) => (await entriesOf(this.path(folder))).map((name) => `${folder}/${name}`)),
    );
    const { start, pull } = this.agent.overview().limiters;
    return [
      ...sandboxes.map(({ metadata }) => `sandbox ${metadata?.name} ${metadata?.attempt}`),
      ...containers.map(({ metadata, podSandboxId }) => `container ${metadata?.name} in ${podSandboxId}`),
      ...files.flat(),
      ...[...start.held, ...start.queue, ...pull.held, ...pull.queue].map((key) => `claim ${key}`),
      ...this.views().map(({ pod, state }) => `pod ${pod.metadata.name} ${state}`),
    ];
  }

  async end(): Promise<void> {
    this.killAgent();
    await this.clock.advance(0);
    await rm(this.#directory, { recursive: true, force: true });
  }

  #source(silent: boolean) {
    return (send: (fact: NodeFact) => void): void => {
      const changes = createChangeDetector('test', this.clock);
      this.#tellSource = () => {
        for (const fact of changes({ pods: [...this.#wanted.values()], problems: [], warnings: [] })) send(fact);
      };
      if (!silent) this.#tellSource();
    };
  }

  get #config(): NodeAgentConfig {
    const fromFiles = this.#options.fromFiles ?? false;
    return {
      nodeName: NODE_NAME,
      rootDir: this.path('root'),
      podLogsDir: this.path('logs', 'pods'),
      runtimeEndpoint: 'simulated',
      cgroupRoot: '/statelet-simulated',
      cgroups: cgroupFacts,
      hostIps: [HOST_IP],
      capacity: { cpuMillis: 64_000, memoryBytes: 2 ** 38, pods: 500 },
      clusterDomain: 'cluster.local',
      canLowerOomScoreAdj: true,
      pullSlots: 4,
      ...(fromFiles ? { staticPodPath: this.manifestDir, fileCheckMs: 20_000 } : { sources: ['test'] }),
      ...this.#options.config,
      ...this.#nextConfig,
    };
  }

  /** The description of the node that the agent has. */
  get facts(): NodeDescription {
    const config = completeConfig(this.#config);
    return { ...config, hostIps: currentAddresses(config.hostIps) };
  }
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function milliseconds(duration: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? [];
  // The pattern matches only these units.
  if (unit !== undefined) return Number(amount) * UNITS[unit as keyof typeof UNITS];
  throw new Error(`${duration} is no duration`);
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

const entriesOf = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);
