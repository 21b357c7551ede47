import type { Container, LinuxContainerResources, PodSandbox } from '../generated/runtime.ts';
import type { BehaviourSource } from './behaviour.ts';
import { gone } from './callError.ts';
import type { AnswerOf, CallName, LoggedCall, Operations, RequestOf } from './callNames.ts';
import type { Clock } from './clock.ts';
import { Containers } from './containers.ts';
import { type EventListener, EventStreams } from './events.ts';
import { type ExecScript, execSync } from './exec.ts';
import { Faults } from './faults.ts';
import { fullImageName } from './imageName.ts';
import { Images } from './images.ts';
import { Lists } from './lists.ts';
import { Network } from './network.ts';
import { operationsOf } from './operations.ts';
import type { SimulatedRuntimeOptions } from './options.ts';
import { exitWith } from './process.ts';
import { type ContainerRecord, listedContainer, listedSandbox, type Records, type SandboxRecord } from './records.ts';
import { giveOtherIds } from './renaming.ts';
import { endAsNotStarted } from './running.ts';
import { Sandboxes } from './sandboxes.ts';
import { Stall } from './stall.ts';
import { Stats } from './stats.ts';
import { type Names, type Picks, Strays } from './strays.ts';
import { streamingOf } from './streaming.ts';
import { struck } from './struck.ts';
import { underBoth } from './underBoth.ts';
import { type Undo, undoOf } from './undo.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';
import type { World } from './world.ts';
import { worldOf } from './worldOf.ts';

/** How the runtime comes back. */
export interface RestartOptions {
  /** Whether containers have run on meanwhile; not after a reboot. Or which have: a dead shim ends those of its pod. */
  readonly keepContainers?: boolean | Picks;
  /** What it does not know any more, although it runs on: everything after its store was lost. */
  readonly forget?: Picks;
  /** Whether it finds again what it had forgotten. */
  readonly recall?: boolean;
  /** The sandboxes that have other ids then, with their containers: nothing else of them changes. */
  readonly rename?: (sandbox: SimulatedSandbox) => boolean;
  /** The running containers that it cannot take up, as when their logs cannot be opened: until it restarts again. */
  readonly unknown?: (container: SimulatedContainer) => boolean;
  /** Of which of these it cannot read either what it had noted. */
  readonly unread?: (container: SimulatedContainer) => boolean;
}

/** A CRI v1 runtime without containers: its states, names, addresses and errors are those of a real one. */
export class SimulatedRuntime {
  /** Every call that arrived, the oldest first, unless it was told not to keep them. */
  readonly calls: LoggedCall[] = [];
  readonly faults = new Faults();
  readonly events: EventStreams;
  readonly clock: Clock;
  readonly images: Images;
  readonly network: Network;
  readonly lists: Lists;
  /** Milliseconds by which the event of an exit comes before the status shows it. */
  eventLeadMs = 0;
  /** How commands in containers are answered. */
  exec: ExecScript | undefined;
  readonly #behaviours = new Map<string, BehaviourSource>();
  readonly #records: Records = { sandboxes: new Map(), containers: new Map() };
  readonly #world: World;
  readonly #stall: Stall;
  readonly #sandboxes: Sandboxes;
  readonly #operations: Operations;
  readonly #undo: Undo;
  readonly #names: Names;
  readonly #strays: Strays;
  readonly #log: ((call: LoggedCall) => void) | undefined;
  #life: AbortController | undefined = new AbortController();

  constructor(options: SimulatedRuntimeOptions) {
    const { clock, images = {}, behaviours = {}, addresses = 65_000 } = options;
    this.clock = clock;
    this.events = new EventStreams(clock);
    this.network = new Network(addresses, options.additionalIps);
    this.lists = new Lists(this.#records);
    this.#stall = new Stall(clock);
    this.exec = options.exec;
    this.#log = this.#logger(options);
    this.#world = worldOf(options, this.events, this.#stall);
    for (const [image, source] of Object.entries(behaviours)) this.behave(image, source);
    this.images = new Images(this.#world, images);
    const rules = { behaviours: this.#behaviours, eventLeadMs: () => this.eventLeadMs };
    const containers = new Containers(this.#world, this.#records, this.lists, this.images, rules);
    this.#sandboxes = new Sandboxes(this.#world, this.#records, containers, this.lists, this.network);
    this.#undo = undoOf(this.#world, this.#records, this.#sandboxes, containers);
    this.#names = { sandboxes: this.#sandboxes.names, containers: containers.names };
    this.#strays = new Strays(this.#records, this.#names, this.network);
    const parts = {
      sandboxes: this.#sandboxes,
      containers,
      images: this.images,
      network: this.network,
      stats: new Stats(this.#world, this.#records, this.images),
      streaming: streamingOf(this.#world, this.#records, () => ({ ...options, exec: this.exec })),
    };
    const exec: Operations['execSync'] = (...call) => execSync(this.#world, this.#records, this.exec, ...call);
    this.#operations = operationsOf(this.#world, parts, exec, options);
  }

  /** Does a call on wire messages. Rejects with a `CallError`, as a gRPC client sees it. */
  async call<K extends CallName>(call: K, request: RequestOf<K>, signal: AbortSignal): Promise<AnswerOf<K>> {
    this.#log?.({ call, request, at: this.clock.now() });
    const life = this.#life;
    if (!life) throw gone();
    try {
      return await underBoth(signal, life.signal, async (both) => {
        await this.#stall.passed(both);
        const strike = this.faults.take(call, request);
        const act = () => this.#operations[call](request, both);
        const undo = (answer: AnswerOf<K>, message: string) => this.#undo[call]?.(request, answer, message);
        const crash = () => this.down();
        const answer = await (strike ? struck(strike, this.#world, both, { act, undo, crash }) : act());
        await this.#stall.passed(both);
        return answer;
      });
    } catch (error) {
      throw life.signal.aborted ? gone() : error;
    }
  }

  /** Follows the runtime's events; the stream breaks at once while the runtime is away. Returns the way to end it. */
  subscribe(listener: EventListener): () => void {
    if (this.#life) return this.events.subscribe(listener);
    listener.onBreak(gone());
    return () => {};
  }

  /** Whether it answers. */
  get isUp(): boolean {
    return this.#life !== undefined;
  }

  /** The runtime goes away: calls under way and all further ones fail with UNAVAILABLE, streams break. */
  down(): void {
    const life = this.#life;
    this.#life = undefined;
    life?.abort(gone());
    this.events.breakAll(gone());
    this.resume();
  }

  /** The runtime comes (back) up. Containers have run on meanwhile, unless they are not kept, as after a reboot. */
  restart({ keepContainers = true, forget, rename, recall = false, ...doubts }: RestartOptions = {}): void {
    this.down();
    // After a reboot nothing is left of what made its lists old.
    if (!keepContainers) this.lists.thaw();
    if (keepContainers !== true) this.#loseProcesses(keepContainers || (() => false));
    if (recall) this.#strays.recall();
    if (forget) this.#strays.forget(forget);
    if (rename) giveOtherIds(this.#world, { records: this.#records, names: this.#names, lists: this.lists }, rename);
    for (const each of this.#records.containers.values()) each.doubt(doubts);
    this.#life = new AbortController();
  }

  /** The runtime stands still: nothing is answered and no event told until it resumes; containers run on. */
  stall(): void {
    this.#stall.begin();
    this.events.hold(true);
  }

  /** It goes on: with the calls that nobody has given up meanwhile, and the events. */
  resume(): void {
    this.#stall.end();
    this.events.hold(false);
  }

  /** Gives an image's containers a behaviour, from their next start on. */
  behave(image: string, source: BehaviourSource): void {
    this.#behaviours.set(fullImageName(image), source);
  }

  /** Ends a running container's process. */
  exitContainer(id: string, exitCode: number, reason = exitWith(exitCode).reason): void {
    this.#running(id).process.end({ exitCode, reason });
  }

  /** The kernel kills a process of a running container for want of memory: its first, or another and it runs on. */
  oomKill(id: string, { child = false }: { child?: boolean } = {}): void {
    this.#running(id);
    this.#container(id).oomKilled = true;
    if (!child) this.exitContainer(id, 137);
  }

  /** Lets a container use so much memory. */
  useMemory(id: string, bytes: number): void {
    this.#container(id).memoryBytes = bytes;
  }

  /** The resources that a container was last given. */
  resourcesOf(id: string): LinuxContainerResources | undefined {
    return this.#container(id).config.linux?.resources;
  }

  /** The start of a container fails on its way: it has ended with that, as with containerd (`StartContainer` in internal/cri/server). */
  failStart(id: string, message: string): void {
    const record = this.#records.containers.get(id);
    if (record?.state === 'created') endAsNotStarted(this.#world, record, message);
  }

  /** Removes a sandbox with its containers at once, as somebody beside the agent might. */
  removeSandbox(id: string): void {
    this.#sandboxes.drop(this.#sandbox(id));
  }

  /** Ends a sandbox's own process: it is not ready any more, while its containers run on. */
  killSandbox(id: string): void {
    this.#sandboxes.kill(this.#sandbox(id));
  }

  /** The container of this id, unless it is removed. */
  container(id: string): SimulatedContainer | undefined {
    return this.#records.containers.get(id);
  }

  /** Every container that is not removed, the oldest first. */
  containers(): Iterable<SimulatedContainer> {
    return this.#records.containers.values();
  }

  /** Every sandbox that is not removed, the oldest first. */
  sandboxes(): Iterable<SimulatedSandbox> {
    return this.#records.sandboxes.values();
  }

  /** What runs or is left on the host that the runtime has forgotten. */
  get strays(): { readonly sandboxes: Iterable<SimulatedSandbox>; readonly containers: Iterable<SimulatedContainer> } {
    return this.#strays;
  }

  /** Kills every process in this cgroup and below it, as writing to `cgroup.kill` does. */
  killCgroup(path: string): void {
    const isIn = (cgroup: string) => cgroup === path || cgroup.startsWith(`${path}/`);
    for (const { life, cgroup } of this.#allContainers()) {
      if (life.state === 'running' && isIn(cgroup)) life.process.signal('SIGKILL');
    }
    for (const sandbox of this.#allSandboxes()) if (isIn(sandbox.cgroup)) this.#sandboxes.kill(sandbox);
  }

  /** All that a list of sandboxes and one of containers would show now, without a call. */
  contents(): { readonly sandboxes: PodSandbox[]; readonly containers: Container[] } {
    const { sandboxes, containers } = this.#records;
    return {
      sandboxes: [...sandboxes.values()].map(listedSandbox),
      containers: [...containers.values()].map(listedContainer),
    };
  }

  /** What the event stream tells of a pod with an event; empty when its sandbox is gone. */
  picture(sandboxId: string): ReturnType<Sandboxes['picture']> {
    return this.#sandboxes.picture(sandboxId);
  }

  #logger({ logCalls = true, onCall }: SimulatedRuntimeOptions): ((call: LoggedCall) => void) | undefined {
    if (!logCalls) return onCall;
    return (call) => {
      this.calls.push(call);
      onCall?.(call);
    };
  }

  #container(id: string): ContainerRecord {
    const record = this.#records.containers.get(id);
    if (!record) throw new Error(`there is no container ${id}`);
    return record;
  }

  #running(id: string) {
    const { life } = this.#container(id);
    if (life.state !== 'running') throw new Error(`container ${id} is not running`);
    return life;
  }

  #sandbox(id: string): SandboxRecord {
    const record = this.#records.sandboxes.get(id);
    if (!record) throw new Error(`there is no sandbox ${id}`);
    return record;
  }

  #loseProcesses(isKept: Picks): void {
    for (const container of this.#allContainers()) {
      const { life } = container;
      if (life.state === 'running' && !isKept(container)) life.process.end({ exitCode: 255, reason: 'Unknown' });
    }
    for (const sandbox of this.#allSandboxes()) if (!isKept(sandbox)) this.#sandboxes.kill(sandbox);
  }

  #allContainers(): readonly ContainerRecord[] {
    return [...this.#records.containers.values(), ...this.#strays.containers];
  }

  #allSandboxes(): readonly SandboxRecord[] {
    return [...this.#records.sandboxes.values(), ...this.#strays.sandboxes];
  }
}

/** Makes a runtime that has nothing but the images told. */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions): SimulatedRuntime {
  return new SimulatedRuntime(options);
}
