/** A whole node in one process, on a clock that jumps: the same seed gives the same run, to the last byte. */
import type { InspectionEvent } from 'xstate';
import type { Entry } from '../actors/boundary.ts';
import type { NodeAgentConfig } from '../actors/nodeAgentConfig.ts';
import type { RuntimeEffect } from '../cri/simulated/views.ts';
import type { NodeInput } from '../machines/node/context.ts';
import type { Pod } from '../pod/api/schema/pod.ts';
import type { Explanation } from '../pod/show/explain.ts';
import { Deeds } from './deeds.ts';
import { fullName, SimulatedHost } from './host.ts';
import type { Invariant, Watched } from './invariants/invariant.ts';
import { InvariantWatch } from './invariants/watch.ts';
import { Life } from './life.ts';
import type { Fate, FaultPlan, OutsideCall } from './outside.ts';
import { Random } from './random.ts';
import { nextTask, Schedule } from './schedule.ts';
import { endsContainers, type Manifest, staticPodName } from './stories/manifests.ts';
import { Trace } from './trace.ts';

export interface SimulationOptions {
  /** Decides everything that is left to chance. */
  readonly seed: number;
  /** What becomes of the calls to the outside; absent: what was asked for. */
  readonly faults?: FaultPlan | undefined;
  /** What is checked after each step; absent: nothing. */
  readonly invariants?: readonly Invariant[];
  /** What is to differ from a node of 64 cores with room for 500 pods. */
  readonly config?: Partial<NodeAgentConfig>;
  /** Whether all that enters the actors is kept, for `recording`. */
  readonly records?: boolean;
  /** Whether a digest is made of all that happens. */
  readonly traces?: boolean;
}

/** What a replay begins with, and what has entered since. */
export interface Recording {
  readonly input: NodeInput;
  readonly entries: readonly Entry[];
}

/** So often it is looked whether a node has settled. */
const SETTLE_STEP_MS = 20_000;
const START = Date.UTC(2026, 0, 1);
/** As systemd restarts a daemon that has failed. */
const RESTART_MS = 5_000;
/** The whole is looked at so often, in steps. */
const WHOLE_EVERY = 100;

const ENDINGS: ReadonlySet<string> = new Set([
  'stopContainer',
  'removeContainer',
  'stopPodSandbox',
  'removePodSandbox',
]);

/** Starts a node over a simulated host. */
export async function simulateNode(options: SimulationOptions): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.startAgent();
  return simulation;
}

export class Simulation {
  readonly host: SimulatedHost;
  readonly deeds = new Deeds();
  readonly #random: Random;
  /** How often something has entered the actors that changed one, or led to a call. */
  steps = 0;
  readonly #options: SimulationOptions;
  readonly #clock = new Schedule(START);
  readonly #trace: Trace | undefined;
  readonly #watch: InvariantWatch;
  #entries: Entry[] = [];
  #life: Life | undefined;
  #lives = 0;
  #calls = 0;
  #hasEntered = false;
  /** Whether anything at the runtime has changed since the last step. */
  #hasChanged = false;
  #nextWhole = WHOLE_EVERY;
  /** The containers and sandboxes that an agent has asked to be ended. */
  readonly #asked = new Set<string>();
  #faultsEnded = Promise.withResolvers<void>();
  #areFaultsOver = false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.host = new SimulatedHost(this.#clock, this.#random.fork(), (effect) => this.#took(effect));
    this.#trace = options.traces ? new Trace() : undefined;
    const moment = () => ({ step: this.steps, elapsed: this.elapsed });
    this.#watch = new InvariantWatch(options.invariants ?? [], this.#watched(), moment);
  }

  /** Milliseconds of node time since the beginning, whatever the wall clock shows. */
  get elapsed(): number {
    return this.#clock.elapsed;
  }

  /** The pods as `get` shows them. */
  pods(): readonly Pod[] {
    return this.#life?.agent?.pods() ?? [];
  }

  explain(pod: string): Explanation | undefined {
    return this.#life?.agent?.explain(pod);
  }

  /** A digest of all that has happened so far: of two runs of one seed it is the same. */
  digest(): string {
    if (this.#trace === undefined) throw new Error('this simulation makes no trace');
    return this.#trace.digest();
  }

  /** All that entered the present agent, to be played again. */
  recording(): Recording | undefined {
    const input = this.#life?.agent?.input;
    return input && { input, entries: this.#entries };
  }

  /** That of the agent that lived last. */
  lastRecording: Recording | undefined;

  /** Starts an agent over what is there; nothing happens where one lives. */
  async startAgent(): Promise<void> {
    if (this.#life !== undefined) return;
    this.#lives += 1;
    this.#entries = [];
    const life = new Life({
      ...{ host: this.host, random: this.#random.fork(), config: this.#options.config ?? {} },
      plan: (call, index) => (this.#areFaultsOver ? undefined : this.#options.faults?.(call, index)),
      faultsEnded: () => this.#faultsEnded.promise,
      nextIndex: () => this.#calls++,
      onCall: (call, fate) => this.#called(call, fate),
      onDeath: () => this.#die(true),
      listener: {
        entered: (entry) => this.#entered(entry),
        reported: (report) => this.#watch.tell((each) => each.onReport?.(report)),
        told: (change) => this.#watch.tell((each) => each.onStatus?.(change)),
        event: (event) => this.#watch.tell((each) => each.onEvent?.(event)),
        inspected: (event) => this.#inspected(event),
        failed: () => this.#die(false),
      },
    });
    this.#life = life;
    this.#watch.tell((each) => each.onLifeBegan?.());
    void life.start();
    await this.#turn();
  }

  /** Ends the agent as SIGKILL does; the next one is started by `startAgent`, or by the service manager in a while. */
  kill({ cutsCalls = this.#random.chance(0.5) }: { readonly cutsCalls?: boolean } = {}): void {
    if (this.#life === undefined) return;
    if (this.#options.records) this.lastRecording = this.recording();
    this.#life.end({ cutsCalls });
    this.#life = undefined;
  }

  /** From now on no call meets a fault; what hangs goes on. */
  endFaults(): void {
    this.#areFaultsOver = true;
    this.#faultsEnded.resolve();
    this.host.recover();
  }

  /** Puts the manifest of a pod there, or another in its place. */
  apply(pod: Manifest): void {
    const full = staticPodName(pod);
    const file = `${pod.metadata.name}.json`;
    this.deeds.want(full, file);
    if (endsContainers(pod)) this.deeds.expectEnds(full);
    this.deeds.touch(full, this.elapsed);
    this.host.putManifest(file, JSON.stringify(pod));
  }

  /** Takes the manifest of a pod away, given its full name. */
  remove(pod: string): void {
    const file = this.deeds.wanted.get(pod);
    if (file === undefined) return;
    this.deeds.unwant(pod);
    this.deeds.touch(pod, this.elapsed);
    this.host.removeManifest(file);
  }

  /** Starts an agent after so many milliseconds, unless one lives by then. */
  startAgentIn(ms: number): void {
    this.#clock.setTimeout(() => void this.startAgent(), ms);
  }

  /** Sets the wall clock. */
  jump(ms: number): void {
    this.deeds.clockJumped = true;
    this.#clock.jump(ms);
  }

  /** The host loses its power with its agent; it is back at once, and `startAgent` begins anew. */
  cutPower(): void {
    this.kill({ cutsCalls: true });
    this.deeds.touchAll(this.elapsed);
    this.host.cutPower(this.#random);
  }

  /** How many calls were made to the outside. */
  get calls(): number {
    return this.#calls;
  }

  /** Lets so many milliseconds pass, one timer after the other; throws an `InvariantViolated`. */
  async advance(ms: number): Promise<void> {
    const until = this.elapsed + ms;
    await this.#turn();
    while (this.#clock.take(until)) await this.#turn();
    this.#clock.passUntil(until);
  }

  /** A look at the whole; throws an `InvariantViolated`. `isAtRest`: whatever was to come has come. */
  check({ isAtRest = false }: { readonly isAtRest?: boolean } = {}): void {
    this.#watch.tell((each) => each.whole?.());
    if (isAtRest) this.#watch.tell((each) => each.atRest?.());
    this.#watch.throwFirst();
  }

  /** Lets time pass until the node is as it is wanted, or has had its time; then looks at the whole. */
  async settle(withinMs: number): Promise<void> {
    const until = this.elapsed + withinMs;
    do await this.advance(SETTLE_STEP_MS);
    while (!this.#watch.isAtRest() && this.elapsed < until);
    this.check({ isAtRest: true });
  }

  /** Everything happens that is ready. */
  async #turn(): Promise<void> {
    await nextTask();
    if (this.#hasChanged) this.#watch.tell((each) => each.onChange?.());
    this.#hasChanged = false;
    if (this.steps >= this.#nextWhole) {
      this.#nextWhole = this.steps + WHOLE_EVERY;
      this.#watch.tell((each) => each.whole?.());
    }
    this.#watch.throwFirst();
  }

  #die(cutsCalls: boolean): void {
    this.kill({ cutsCalls });
    this.startAgentIn(RESTART_MS);
  }

  /** What ends without the agent having asked for it was ended by somebody else. */
  #took({ kind, container, sandbox }: RuntimeEffect): void {
    this.#hasChanged = true;
    const isAsked = this.#asked.has(sandbox.id) || (container !== undefined && this.#asked.has(container.id));
    if (kind === 'ended' && !isAsked) this.deeds.touch(fullName(sandbox), this.elapsed);
    if (kind === 'removed') this.#asked.delete(container?.id ?? sandbox.id);
  }

  #entered(entry: Entry): void {
    this.#hasEntered = true;
    this.#trace?.add('entry', entry);
    if (this.#options.records) this.#entries.push(entry);
  }

  #called(call: OutsideCall, fate: Fate | undefined): void {
    if (call.room === 'runtime' && ENDINGS.has(call.name)) this.#asked.add(call.about);
    this.#trace?.add('call', [this.elapsed, call, fate]);
    this.#moved();
    this.#watch.tell((each) => each.onCall?.(call));
  }

  #inspected(event: InspectionEvent): void {
    if (event.type === '@xstate.snapshot') this.#moved();
  }

  /** What has entered last was a step. */
  #moved(): void {
    if (this.#hasEntered) this.steps += 1;
    this.#hasEntered = false;
  }

  #watched(): Watched {
    const life = () => this.#life;
    const lives = () => this.#lives;
    return {
      ...{ host: this.host, deeds: this.deeds },
      get agent() {
        return life()?.agent;
      },
      get root() {
        return life()?.root;
      },
      get life() {
        return lives();
      },
      get timers() {
        return life()?.timers ?? 0;
      },
    };
  }
}
