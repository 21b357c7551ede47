/** A whole node in one process, on a clock that jumps: the same seed gives the same run, to the last byte. */
import type { Entry } from '../actors/boundary.ts';
import type { PodChange } from '../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../cri/simulated/views.ts';
import type { Pod } from '../pod/api/schema/pod.ts';
import type { Explanation } from '../pod/show/explain.ts';
import type { NodeExplanation } from '../pod/show/explainNode.ts';
import { Deeds } from './deeds.ts';
import { Endings } from './endings.ts';
import { fullName, SimulatedHost } from './host.ts';
import type { Watched } from './invariants/invariant.ts';
import { InvariantWatch } from './invariants/watch.ts';
import { Life } from './life.ts';
import type { SimulationOptions } from './options.ts';
import type { Fate, OutsideCall } from './outside.ts';
import { Random } from './random.ts';
import type { Recording } from './recording.ts';
import { differenceOfReplay } from './replayed.ts';
import { nextTask, Schedule } from './schedule.ts';
import { Steps } from './steps.ts';
import { type Manifest, staticPodName } from './stories/manifests.ts';
import { perform } from './stories/perform.ts';
import type { Deed } from './stories/story.ts';
import { Trace } from './trace.ts';
import { Users } from './users.ts';

/** So often it is looked whether a node has settled. */
const SETTLE_STEP_MS = 20_000;
const START = Date.UTC(2026, 0, 1);
/** As systemd restarts a daemon that has failed. */
const RESTART_MS = 5_000;
/** The whole is looked at so often, in steps. */
const WHOLE_EVERY = 100;

/** Starts a node over a simulated host. */
export async function simulateNode(options: SimulationOptions): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.host.open();
  await simulation.startAgent();
  return simulation;
}

export class Simulation {
  readonly host: SimulatedHost;
  readonly deeds = new Deeds();
  /** Those who add, change and remove pods. */
  readonly users: Users;
  readonly #random: Random;
  readonly #options: SimulationOptions;
  readonly #clock = new Schedule(START);
  readonly #trace: Trace | undefined;
  readonly #watch: InvariantWatch;
  #entries: Entry[] = [];
  #life: Life | undefined;
  #lives = 0;
  #calls = 0;
  /** The pods as the present agent has told of them. */
  readonly #told = new Map<string, Pod>();
  readonly #steps = new Steps();
  #nextWhole = WHOLE_EVERY;
  readonly #endings = new Endings();
  #faultsEnded = Promise.withResolvers<void>();
  #areFaultsOver = false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.host = new SimulatedHost(this.#clock, this.#random.fork(), (effect) => this.#took(effect));
    this.users = new Users(this.host, this.deeds);
    this.#trace = options.traces ? new Trace() : undefined;
    const moment = () => ({ step: this.steps, elapsed: this.elapsed });
    this.#watch = new InvariantWatch(options.invariants ?? [], this.#watched(), moment);
  }

  /** How often something has entered the actors that changed one. */
  get steps(): number {
    return this.#steps.count;
  }

  /** Milliseconds of node time since the beginning, whatever the wall clock shows. */
  get elapsed(): number {
    return this.#clock.elapsed;
  }

  /** The pods as `get` shows them. */
  pods(): readonly Pod[] {
    return this.#life?.agent?.pods() ?? [];
  }

  /** Why a pod is in its state, given its name in the manifest, its full name or its UID. */
  explain(pod: string): Explanation | undefined {
    return this.#life?.agent?.explain(pod);
  }

  /** Absent where no agent lives. */
  explainNode(): NodeExplanation | undefined {
    return this.#life?.agent?.explainNode();
  }

  /** A digest of all that has happened so far: of two runs of one seed it is the same. */
  digest(): string {
    if (this.#trace !== undefined) return this.#trace.digest();
    throw new Error('this simulation makes no trace');
  }

  /** All that entered the present agent, to be played again. */
  recording(): Recording | undefined {
    const input = this.#life?.agent?.input;
    return input && { input, entries: this.#entries };
  }

  /** Plays what entered the present agent again; throws an `InvariantViolated` where that comes to something else. */
  async checkReplay(): Promise<void> {
    const [agent, recording] = [this.#life?.agent, this.recording()];
    if (agent === undefined || recording === undefined || this.#life?.hasStopped) return;
    const difference = await differenceOfReplay(agent, recording);
    if (difference !== undefined) this.#watch.violated(8, `the recording replays to something else: ${difference}`);
    this.#watch.throwFirst();
  }

  /** That of the agent that lived last. */
  lastRecording: Recording | undefined;

  /** Starts an agent over what is there; nothing happens where one lives. */
  async startAgent(): Promise<void> {
    if (this.#life !== undefined) return;
    this.#lives += 1;
    this.#entries = [];
    this.#told.clear();
    const life = new Life({
      ...{ host: this.host, random: this.#random.fork(), config: this.#options.config ?? {} },
      isSecretive: this.#options.records === true,
      inspect: this.#options.inspect,
      plan: (call, at) =>
        this.#areFaultsOver ? undefined : (this.#options.faults?.(call, at, this.elapsed) ?? this.host.fateOf(call)),
      overtakes: this.#options.overtakes ? this.#random.fork() : undefined,
      faultsEnded: () => this.#faultsEnded.promise,
      nextIndex: () => this.#calls++,
      onCall: (call, fate) => this.#called(call, fate),
      onDeath: () => this.#die(true),
      listener: {
        entered: (entry) => this.#entered(entry),
        reported: (report) => this.#watch.tell('onReport', report),
        told: (change) => this.#noted(change),
        event: (event) => this.#watch.tell('onEvent', event),
        took: (event) => this.#steps.took(event),
        failed: () => this.#die(false),
      },
    });
    this.#life = life;
    this.#watch.tell('onLifeBegan');
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

  /** Lets the agent stop by itself, after it has ended its pods or without, and starts the next one later. */
  async stopAgent({ drains, downMs }: { readonly drains: boolean; readonly downMs: number }): Promise<void> {
    const life = this.#life;
    await life?.retire({ drains });
    if (life !== undefined && this.#life === life) this.#die(false, downMs);
  }

  /** From now on no call meets a fault; what hangs goes on. */
  endFaults(): void {
    this.#areFaultsOver = true;
    this.#faultsEnded.resolve();
    this.host.recover();
  }

  /** Puts the manifest of a pod there, or another in its place. */
  apply(pod: Manifest): void {
    this.users.apply(pod);
  }

  /** Takes the manifest of a pod away; `pod` is its name there, or its full name. */
  remove(pod: string): void {
    this.users.remove(pod.includes('/') ? pod : staticPodName({ metadata: { name: pod } }));
  }

  /** Does what a story can tell of: ends a container, stops the runtime, sets the clock. */
  perform(deed: Deed): void {
    perform(this, deed);
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
    this.#watch.tell('whole');
    if (isAtRest) this.#watch.tell('atRest');
    this.#watch.throwFirst();
    if (isAtRest) this.#watch.tell('settled');
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
    this.#watch.tell('afterStep');
    if (this.steps >= this.#nextWhole && !this.#clock.isDue) {
      this.#nextWhole = this.steps + WHOLE_EVERY;
      this.#watch.tell('whole');
    }
    this.#watch.throwFirst();
  }

  #die(cutsCalls: boolean, downMs = RESTART_MS): void {
    this.kill({ cutsCalls });
    this.startAgentIn(downMs);
  }

  #took(effect: RuntimeEffect): void {
    if (this.#endings.isByOthers(effect)) this.deeds.touch(fullName(effect.sandbox), this.elapsed);
    this.#watch.tell('onEffect', effect);
  }

  #entered(entry: Entry): void {
    this.#steps.entered();
    this.users.noteHeard(entry);
    this.#trace?.add('entry', entry);
    if (this.#options.records) this.#entries.push(entry);
  }

  #called(call: OutsideCall, fate: Fate | undefined): void {
    this.#endings.note(this, call, fate);
    this.#trace?.add('call', [this.elapsed, call, fate]);
    this.#watch.tell('onCall', call);
  }

  #noted(change: PodChange): void {
    const { uid, pod, removed } = change;
    if (removed) this.#told.delete(uid);
    else this.#told.set(uid, pod);
    this.#watch.tell('onStatus', change);
  }

  #watched(): Watched {
    const [life, lives] = [() => this.#life, () => this.#lives];
    return {
      ...{ host: this.host, deeds: this.deeds, podOf: (uid) => this.#told.get(uid) },
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
