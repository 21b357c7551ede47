import type { TimerClock } from '../../base/time/clock.ts';
import type { Container, LinuxContainerResources, PodSandbox } from '../generated/runtime.ts';
import { Containers } from './calls/containers.ts';
import { type ExecScript, execSync } from './calls/exec.ts';
import { Images } from './calls/images.ts';
import { ListResults } from './calls/listResults.ts';
import { createOperations } from './calls/operations.ts';
import { Sandboxes } from './calls/sandboxes.ts';
import { Stats } from './calls/stats.ts';
import { createStreamingCalls } from './calls/streamingCalls.ts';
import type { BehaviourSource } from './commands/behaviour.ts';
import { createRuntimeContext } from './createRuntimeContext.ts';
import { runtimeDownError } from './faults/callError.ts';
import type { CallName, LoggedCall, Operations, RequestOf, ResponseOf } from './faults/callNames.ts';
import { callWithFault } from './faults/callWithFault.ts';
import { Faults } from './faults/faults.ts';
import { createRollbacks, type Rollbacks } from './faults/rollbacks.ts';
import { Stall } from './faults/stall.ts';
import { withEitherSignal } from './faults/withEitherSignal.ts';
import { changeIds } from './objects/changeIds.ts';
import { type EventListener, EventStreams } from './objects/events.ts';
import { fullImageName } from './objects/imageName.ts';
import { Network } from './objects/network.ts';
import { createExit } from './objects/process.ts';
import {
  type ContainerRecord,
  type RuntimeRecords,
  type SandboxRecord,
  toListedContainer,
  toListedSandbox,
} from './objects/records.ts';
import { exitWithStartError } from './objects/running.ts';
import { type NameRegistries, type ObjectSelector, Strays } from './objects/strays.ts';
import type { SimulatedContainer, SimulatedSandbox } from './objects/views.ts';
import type { SimulatedRuntimeOptions } from './options.ts';
import type { RuntimeContext } from './runtimeContext.ts';

export interface RestartOptions {
  /**
   * Whether containers keep running. False simulates a reboot. A function selects the containers that keep running,
   * e.g. to simulate the death of a single shim.
   */
  readonly keepContainers?: boolean | ObjectSelector;
  /** Selects objects that keep running although the runtime loses their records. */
  readonly forget?: ObjectSelector;
  /** Whether the runtime recovers records that earlier restarts lost. */
  readonly recall?: boolean;
  /** Selects sandboxes that get different IDs. Their containers get different IDs too. */
  readonly rename?: (sandbox: SimulatedSandbox) => boolean;
  /**
   * Selects running containers that the runtime fails to recover until the next restart, e.g. because it cannot open
   * their logs.
   */
  readonly unknown?: (container: SimulatedContainer) => boolean;
  /** Selects unrecovered containers whose stored status cannot be read either. */
  readonly unread?: (container: SimulatedContainer) => boolean;
}

/** A CRI v1 runtime that does not run containers. Its states, names, addresses and errors match those of containerd. */
export class SimulatedRuntime {
  /** All received calls, oldest first, unless `logCalls` is false. */
  readonly calls: LoggedCall[] = [];
  readonly faults = new Faults();
  readonly events: EventStreams;
  readonly clock: TimerClock;
  readonly images: Images;
  readonly network: Network;
  readonly listResults: ListResults;
  /** Milliseconds by which an exit event precedes the status change. */
  eventLeadMs = 0;
  /** Size of the filesystem that contains the images, in bytes. */
  imageCapacityBytes = 100e9;
  /** Determines the results of commands in containers. */
  exec: ExecScript | undefined;
  readonly #behaviours = new Map<string, BehaviourSource>();
  readonly #records: RuntimeRecords = { sandboxes: new Map(), containers: new Map() };
  readonly #context: RuntimeContext;
  readonly #stall: Stall;
  readonly #sandboxes: Sandboxes;
  readonly #stats: Stats;
  readonly #operations: Operations;
  readonly #rollbacks: Rollbacks;
  readonly #nameRegistries: NameRegistries;
  readonly #strays: Strays;
  readonly #logCall: ((call: LoggedCall) => void) | undefined;
  #lifetimeController: AbortController | undefined = new AbortController();

  constructor(options: SimulatedRuntimeOptions) {
    const { clock, images = {}, behaviours = {}, addresses = 65_000 } = options;
    this.clock = clock;
    this.events = new EventStreams(clock);
    this.network = new Network(addresses, options.additionalIps);
    this.listResults = new ListResults(this.#records);
    this.#stall = new Stall(clock);
    this.exec = options.exec;
    this.#logCall = this.#createCallLogger(options);
    this.#context = createRuntimeContext(options, this.events, this.#stall);
    for (const [image, source] of Object.entries(behaviours)) this.setBehaviour(image, source);
    this.images = new Images(this.#context, images);
    const startRules = { behaviours: this.#behaviours, eventLeadMs: () => this.eventLeadMs };
    const containers = new Containers(this.#context, this.#records, this.listResults, this.images, startRules);
    this.#sandboxes = new Sandboxes(this.#context, this.#records, containers, this.listResults, this.network);
    this.#rollbacks = createRollbacks(this.#context, this.#records, this.#sandboxes, containers);
    this.#nameRegistries = { sandboxes: this.#sandboxes.names, containers: containers.names };
    this.#strays = new Strays(this.#records, this.#nameRegistries, this.network);
    this.#stats = new Stats(this.#context, this.#records, this.images);
    const components = {
      sandboxes: this.#sandboxes,
      containers,
      images: this.images,
      network: this.network,
      stats: this.#stats,
      streamingCalls: createStreamingCalls(this.#context, this.#records, () => ({ ...options, exec: this.exec })),
    };
    const exec: Operations['execSync'] = (...call) => execSync(this.#context, this.#records, this.exec, ...call);
    this.#operations = createOperations(this.#context, components, exec, options);
  }

  /** Executes a call. Rejects with a `CallError`, which is the error that a gRPC client receives. */
  async call<K extends CallName>(call: K, request: RequestOf<K>, signal: AbortSignal): Promise<ResponseOf<K>> {
    this.#logCall?.({ call, request, at: this.clock.now() });
    const lifetime = this.#lifetimeController;
    if (!lifetime) throw runtimeDownError();
    try {
      return await withEitherSignal(signal, lifetime.signal, async (combinedSignal) => {
        await this.#stall.waitUntilResumed(combinedSignal);
        const injectedFault = this.faults.match(call, request);
        const act = () => this.#operations[call](request, combinedSignal);
        const rollBack = (response: ResponseOf<K>, message: string) =>
          this.#rollbacks[call]?.(request, response, message);
        const takeDown = () => this.down();
        const response = await (injectedFault
          ? callWithFault(injectedFault, this.#context, combinedSignal, { execute: act, rollBack, takeDown })
          : act());
        await this.#stall.waitUntilResumed(combinedSignal);
        return response;
      });
    } catch (error) {
      throw lifetime.signal.aborted ? runtimeDownError() : error;
    }
  }

  /**
   * Subscribes to events and returns a function that unsubscribes. While the runtime is down, the stream breaks
   * immediately.
   */
  subscribe(listener: EventListener): () => void {
    if (this.#lifetimeController) return this.events.subscribe(listener);
    listener.onBreak(runtimeDownError());
    return () => {};
  }

  /** Whether the runtime responds. */
  get isUp(): boolean {
    return this.#lifetimeController !== undefined;
  }

  /** Takes the runtime down. Calls in flight and further calls fail with UNAVAILABLE, and event streams break. */
  down(): void {
    const lifetime = this.#lifetimeController;
    this.#lifetimeController = undefined;
    lifetime?.abort(runtimeDownError());
    this.events.breakAll(runtimeDownError());
    this.resume();
  }

  /** Restarts the runtime. By default, containers keep running. */
  restart({ keepContainers = true, forget, rename, recall = false, ...recoveryFaults }: RestartOptions = {}): void {
    this.down();
    // A reboot thaws the lists, because it resolves the problem that made them stale.
    if (!keepContainers) this.listResults.thaw();
    if (keepContainers !== true) this.#killProcesses(keepContainers || (() => false));
    if (recall) this.#strays.recall();
    if (forget) this.#strays.forget(forget);
    if (rename)
      changeIds(
        this.#context,
        { records: this.#records, nameRegistries: this.#nameRegistries, listResults: this.listResults },
        rename,
      );
    for (const container of this.#records.containers.values()) container.recover(this.clock.now(), recoveryFaults);
    this.#lifetimeController = new AbortController();
  }

  /**
   * Stalls the runtime, which then neither executes calls nor delivers events until it resumes. Containers continue to
   * run.
   */
  stall(): void {
    this.#stall.start();
    this.events.setStalled(true);
  }

  /**
   * Resumes a stalled runtime. It executes the calls that have not been cancelled, and delivers the deferred events.
   */
  resume(): void {
    this.#stall.end();
    this.events.setStalled(false);
  }

  /** Sets the behaviour of an image's containers from their next start on. */
  setBehaviour(image: string, source: BehaviourSource): void {
    this.#behaviours.set(fullImageName(image), source);
  }

  /** Makes the process of a running container exit. */
  exitContainer(id: string, exitCode: number, reason = createExit(exitCode).reason): void {
    this.#requireRunning(id).process.exit({ exitCode, reason });
  }

  /** OOM-kills a process of a running container. If it is a child process, the container keeps running. */
  oomKill(id: string, { child = false }: { child?: boolean } = {}): void {
    this.#requireRunning(id);
    this.#requireContainer(id).wasOomKilled = true;
    if (!child) this.exitContainer(id, 137);
  }

  /** Sets the memory that a container uses while it is running. */
  setMemoryUsage(id: string, bytes: number): void {
    this.#requireContainer(id).memoryBytes = bytes;
  }

  /** Returns the current resources of a container. */
  resourcesOf(id: string): LinuxContainerResources | undefined {
    return this.#requireContainer(id).config.linux?.resources;
  }

  /** Returns the size of the filesystem that contains the images, and how much of it is left, in bytes. */
  imageDisk(): { readonly capacityBytes: number; readonly availableBytes: number } {
    const { imageCapacityBytes: capacityBytes } = this;
    return { capacityBytes, availableBytes: Math.max(0, capacityBytes - this.#stats.imageFsBytes()) };
  }

  /**
   * Makes the start of a container fail, which moves it to the exited state as in containerd (`StartContainer` in
   * internal/cri/server).
   */
  failStart(id: string, message: string): void {
    const record = this.#records.containers.get(id);
    if (record?.state === 'created') exitWithStartError(this.#context, record, message);
  }

  /** Removes a sandbox and its containers immediately, as other software might. */
  removeSandbox(id: string): void {
    this.#sandboxes.drop(this.#requireSandbox(id));
  }

  /** Kills the process of a sandbox. The sandbox becomes not ready, while its containers continue to run. */
  killSandbox(id: string): void {
    this.#sandboxes.kill(this.#requireSandbox(id));
  }

  /** Returns the container with the given ID, or undefined if it does not exist. */
  container(id: string): SimulatedContainer | undefined {
    return this.#records.containers.get(id);
  }

  /** Lists all containers, oldest first. */
  containers(): Iterable<SimulatedContainer> {
    return this.#records.containers.values();
  }

  /** Lists all sandboxes, oldest first. */
  sandboxes(): Iterable<SimulatedSandbox> {
    return this.#records.sandboxes.values();
  }

  /** Objects that still exist on the host but whose records the runtime has lost. */
  get strays(): { readonly sandboxes: Iterable<SimulatedSandbox>; readonly containers: Iterable<SimulatedContainer> } {
    return this.#strays;
  }

  /** Kills all processes in a cgroup and its descendants, as writing to `cgroup.kill` does. */
  killCgroup(path: string): void {
    const isBelowPath = (cgroup: string) => cgroup === path || cgroup.startsWith(`${path}/`);
    for (const { lifecycle, cgroup } of this.#listAllContainers()) {
      if (lifecycle.state === 'running' && isBelowPath(cgroup)) lifecycle.process.signal('SIGKILL');
    }
    for (const sandbox of this.#listAllSandboxes()) if (isBelowPath(sandbox.cgroup)) this.#sandboxes.kill(sandbox);
  }

  /** Returns the current results of list calls for sandboxes and containers. */
  contents(): { readonly sandboxes: PodSandbox[]; readonly containers: Container[] } {
    const { sandboxes, containers } = this.#records;
    return {
      sandboxes: [...sandboxes.values()].map(toListedSandbox),
      containers: [...containers.values()].map(toListedContainer),
    };
  }

  /** Returns the statuses that are sent with the pod's events, or undefined if the sandbox does not exist. */
  podStatuses(sandboxId: string): ReturnType<Sandboxes['podStatuses']> {
    return this.#sandboxes.podStatuses(sandboxId);
  }

  #createCallLogger({ logCalls = true, onCall }: SimulatedRuntimeOptions): ((call: LoggedCall) => void) | undefined {
    if (!logCalls) return onCall;
    return (call) => {
      this.calls.push(call);
      onCall?.(call);
    };
  }

  #requireContainer(id: string): ContainerRecord {
    const record = this.#records.containers.get(id);
    if (!record) throw new Error(`there is no container ${id}`);
    return record;
  }

  #requireRunning(id: string) {
    const { lifecycle } = this.#requireContainer(id);
    if (lifecycle.state !== 'running') throw new Error(`container ${id} is not running`);
    return lifecycle;
  }

  #requireSandbox(id: string): SandboxRecord {
    const record = this.#records.sandboxes.get(id);
    if (!record) throw new Error(`there is no sandbox ${id}`);
    return record;
  }

  #killProcesses(survives: ObjectSelector): void {
    for (const container of this.#listAllContainers()) {
      const { lifecycle } = container;
      if (lifecycle.state === 'running' && !survives(container))
        lifecycle.process.exit({ exitCode: 255, reason: 'Unknown' });
    }
    for (const sandbox of this.#listAllSandboxes()) if (!survives(sandbox)) this.#sandboxes.kill(sandbox);
  }

  #listAllContainers(): readonly ContainerRecord[] {
    return [...this.#records.containers.values(), ...this.#strays.containers];
  }

  #listAllSandboxes(): readonly SandboxRecord[] {
    return [...this.#records.sandboxes.values(), ...this.#strays.sandboxes];
  }
}

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): SimulatedRuntime {
  return new SimulatedRuntime(options);
}
