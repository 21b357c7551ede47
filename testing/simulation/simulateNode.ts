/** A whole node in one process on a clock that jumps. Runs with the same seed are identical to the last byte. */
import type { Entry } from '../../actors/boundary.ts';
import type { PodChange } from '../../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../../cri/simulated/objects/views.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeExplanation } from '../../show/explain/explainNode.ts';
import type { Explanation } from '../../show/explain.ts';
import { checkOptions } from './checkOptions.ts';
import { Endings } from './checks/endings.ts';
import { ToldPods } from './checks/toldPods.ts';
import { Trace } from './checks/trace.ts';
import { Unrest } from './checks/unrest.ts';
import type { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { Faults } from './faults/faults.ts';
import { SimulatedHost } from './host/host.ts';
import type { Watched } from './invariants/invariant.ts';
import { InvariantWatch } from './invariants/watch.ts';
import type { SimulationOptions } from './options.ts';
import { Random } from './random.ts';
import { Life } from './run/life.ts';
import { limitsOf } from './run/nodeConfig.ts';
import type { Fate, OutsideCall } from './run/outside.ts';
import { PastLives } from './run/pastLives.ts';
import type { Recording } from './run/recording.ts';
import { checkSpan, nextTask, Schedule } from './run/schedule.ts';
import { Steps } from './run/steps.ts';
import type { SimulatedNode } from './simulatedNode.ts';
import { nameAndNamespace } from './stories/manifests.ts';
import { perform } from './stories/perform.ts';
import type { Deed } from './stories/story.ts';
import { Deeds } from './users/deeds.ts';
import { Users } from './users/users.ts';

/** Interval at which to check whether a node has settled. */
const SETTLE_STEP_MS = 20_000;
const START = Date.UTC(2026, 0, 1);
/** Delay before a failed agent is started again, as with `RestartSec=5` of systemd. */
const RESTART_MS = 5_000;

/** Starts a node on a simulated host. */
export async function simulateNode(options: SimulationOptions): Promise<Simulation> {
  const simulation = new Simulation(options);
  await simulation.host.open();
  await simulation.startAgent();
  return simulation;
}

/** A simulated node with access to its internals, for the tests of this project. */
export class Simulation implements SimulatedNode {
  readonly host: SimulatedHost;
  readonly deeds = new Deeds();
  readonly users: Users;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster: SimulatedCluster | undefined;
  readonly #random: Random;
  readonly #options: SimulationOptions;
  readonly #clock = new Schedule(START);
  readonly #trace: Trace | undefined;
  readonly #watch: InvariantWatch;
  #life: Life | undefined;
  readonly #past: PastLives;
  #lives = 0;
  #calls = 0;
  readonly #told = new ToldPods();
  readonly #steps = new Steps();
  readonly #unrest = new Unrest(this, (message) => this.#watch.violated({ number: 9 }, message));
  readonly #endings = new Endings();
  readonly #faults: Faults;

  constructor(options: SimulationOptions) {
    checkOptions(options);
    const { replays = false, cgroups, cluster, objects: strategy } = options;
    this.#options = { ...options, records: options.records || replays };
    this.#random = new Random(options.seed);
    const onEffect = (effect: RuntimeEffect) => {
      this.#endings.noteEffect(this, effect);
      this.#watch.tell('onEffect', effect);
    };
    this.host = new SimulatedHost(this.#clock, this.#random.fork(), { onEffect, cgroups });
    this.users = new Users(this.host, this.deeds, options.config);
    const ground = () => ({ clock: this.#clock, random: this.#random.fork(), deeds: this.deeds });
    this.cluster = cluster?.({ ...ground(), strategy, onChanged: (pod) => this.users.noteChanged(pod) });
    this.#faults = new Faults(this.host, options.faults);
    this.#trace = options.traces ? new Trace() : undefined;
    const moment = () => ({ step: this.steps, elapsed: this.elapsed });
    this.#watch = new InvariantWatch(options.invariants ?? [], this.#watched(), moment);
    this.cluster?.onStatus((report) => this.#watch.tell('onReport', report));
    if (this.#trace) this.#watch.listen(this.#trace.following(() => this.elapsed));
    this.#past = new PastLives(replays, (difference) =>
      this.#watch.violated({ number: 8 }, `the recording replays to something else: ${difference}`),
    );
  }

  get steps(): number {
    return this.#steps.count;
  }

  get elapsed(): number {
    return this.#clock.elapsed;
  }

  pods(): readonly Pod[] {
    return structuredClone(this.#life?.agent?.pods() ?? []);
  }

  explain(pod: string): Explanation | undefined {
    return this.#life?.agent?.explain(...nameAndNamespace(pod));
  }

  explainNode(): NodeExplanation | undefined {
    return this.#life?.agent?.explainNode();
  }

  digest(): string {
    if (this.#trace !== undefined) return this.#trace.digest();
    throw new Error('this simulation has no `traces`');
  }

  recording(): Recording | undefined {
    if (!this.#options.records) throw new Error('this simulation has no `records`');
    return structuredClone(this.#life === undefined ? this.#past.recording : this.#life.recording);
  }

  /**
   * Replays the recording of the current agent. Throws an `InvariantViolated` if the replay ends in a different state.
   */
  async checkReplay(): Promise<void> {
    await this.#past.replay(this.#life, this.recording());
    this.#watch.throwFirst();
  }

  async startAgent(): Promise<void> {
    this.#beginLife();
    await this.#turn();
  }

  #beginLife(): void {
    if (this.#life !== undefined) return;
    this.#lives += 1;
    this.#told.clear();
    const life = new Life({
      host: this.host,
      random: this.#random.fork(),
      config: this.#options.config,
      unrest: this.#unrest,
      records: this.#options.records === true,
      cluster: this.cluster,
      inspect: (event) => this.#watch.run(() => this.#options.inspect?.(event)),
      plan: (call, index) => this.#watch.run(() => this.#faults.fateOf(call, index)),
      overtakes: this.#options.overtakes ? this.#random.fork() : undefined,
      faultsEnded: () => this.#faults.ended,
      nextIndex: () => this.#calls++,
      onCall: (call, fate) => this.#called(call, fate),
      onDeath: () => this.#die(true),
      listener: {
        entered: (entry) => this.#entered(entry),
        reported: (report) => this.#watch.tell('onReport', report),
        told: (change) => this.#noted(change),
        event: (event) => this.#watch.tell('onEvent', event),
        took: (event) => {
          this.#steps.took(event);
          this.#watch.tell('onTransition');
        },
        failed: (error) => this.#failed(error),
      },
    });
    this.#life = life;
    this.#endings.beginLife();
    this.#watch.tell('onLifeBegan');
    void life.start();
  }

  kill({ cutsCalls = this.#random.chance(0.5) }: { readonly cutsCalls?: boolean } = {}): void {
    if (this.#life === undefined) return;
    this.#life.end({ cutsCalls });
    this.#past.add(this.#life);
    this.#life = undefined;
  }

  /** Stops the agent gracefully, with or without draining its pods, and starts the next one after `downMs`. */
  async stopAgent({ drains, downMs }: { readonly drains: boolean; readonly downMs: number }): Promise<void> {
    const life = this.#life;
    await life?.retire({ drains });
    if (life !== undefined && this.#life === life) this.#die(false, downMs);
  }

  endFaults(): void {
    this.users.healAll();
    this.#faults.end();
    this.cluster?.recover();
  }

  apply(pod: object): void {
    this.users.apply(pod);
  }

  remove(pod: string): void {
    this.perform({ kind: 'remove', pod });
  }

  perform(deed: Deed): void {
    perform(this, deed);
  }

  /** Starts an agent after `ms` milliseconds, unless one is running by then. */
  startAgentIn(ms: number): void {
    this.#clock.setTimeout(() => this.#beginLife(), ms);
  }

  jump(ms: number): void {
    this.#watch.tell('beforeJump');
    this.#clock.jump(ms);
  }

  /**
   * Cuts the power of the host, which kills the agent. The host is back at once, and `startAgent` starts the next
   * agent.
   */
  cutPower(): void {
    this.kill({ cutsCalls: true });
    this.deeds.touchAll(this.elapsed);
    this.host.cutPower(this.#random);
  }

  /** The number of calls to the outside so far. */
  get calls(): number {
    return this.#calls;
  }

  advance(ms: number): Promise<void> {
    return this.#clock.pass(ms, () => this.#turn());
  }

  /**
   * Runs the checks of all invariants and throws an `InvariantViolated`. `isAtRest` adds the checks of a node at rest.
   */
  check({ isAtRest = false }: { readonly isAtRest?: boolean } = {}): void {
    this.#watch.tell('whole');
    if (isAtRest) this.#watch.tell('atRest');
    this.#watch.throwFirst();
    if (isAtRest) this.#watch.tell('settled');
    this.#watch.throwFirst();
  }

  async settle(withinMs: number): Promise<boolean> {
    checkSpan(withinMs);
    const until = this.elapsed + withinMs;
    do await this.advance(SETTLE_STEP_MS);
    while (!this.#watch.isAtRest() && this.elapsed < until);
    this.check({ isAtRest: true });
    return this.#watch.isAtRest();
  }

  /** Runs everything that is ready at the current time. */
  async #turn(): Promise<void> {
    this.#unrest.note(() => 'a timer');
    await nextTask();
    // A node that never comes to rest would not do so in a replay either, so check before the replay.
    this.#watch.throwFirst();
    await this.#past.bury();
    this.#watch.tell('afterStep');
    if (!this.#clock.isDue) this.#watch.lookAtWhole(this.steps);
    this.#watch.throwFirst();
  }

  #failed(error: unknown): void {
    // A `TypeError` is no fault of the outside. The node was started with an invalid configuration.
    if (error instanceof TypeError) this.#watch.thrown(error);
    this.#die(false);
  }

  #die(cutsCalls: boolean, downMs = RESTART_MS): void {
    this.kill({ cutsCalls });
    this.startAgentIn(downMs);
  }

  #entered(entry: Entry): void {
    this.#steps.entered();
    this.users.noteHeard(entry);
    this.#watch.tell('onEntry', entry);
    this.#trace?.add('entry', entry);
  }

  #called(call: OutsideCall, fate: Fate | undefined): void {
    this.#endings.note(this, call, fate);
    this.#watch.tell('onCall', call, fate);
  }

  #noted(change: PodChange): void {
    this.#told.note(change);
    this.#watch.tell('onStatus', change);
  }

  #watched(): Watched {
    const [life, lives] = [() => this.#life, () => this.#lives];
    const { host, cluster, deeds } = this;
    return {
      ...limitsOf(this.#options),
      host,
      cluster,
      deeds,
      podOf: this.#told.of,
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
