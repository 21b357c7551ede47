/**
 * A whole node in one process, on a clock that jumps from timer to timer. Runs with the same seed are identical to the
 * last byte.
 */
import type { RecordedInput } from '../../actors/boundary.ts';
import type { PodChange } from '../../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../../cri/simulated/objects/views.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeExplanation } from '../../show/explain/explainNode.ts';
import type { Explanation } from '../../show/explain.ts';
import { checkOptions } from './checkOptions.ts';
import { ActivityLimit } from './checks/activityLimit.ts';
import { ExitCauses } from './checks/exitCauses.ts';
import { Trace } from './checks/trace.ts';
import type { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { Faults } from './faults/faults.ts';
import { SimulatedHost } from './host/host.ts';
import type { Watched } from './invariants/invariant.ts';
import { InvariantWatch } from './invariants/invariantWatch.ts';
import type { SimulationOptions } from './options.ts';
import { Random } from './random.ts';
import { AgentRun } from './run/agentRun.ts';
import { DeadAgents } from './run/deadAgents.ts';
import type { CallFault, OutsideCall } from './run/gate.ts';
import { limitsOf } from './run/nodeConfig.ts';
import type { Recording } from './run/recording.ts';
import { checkSpan, nextTask, Schedule } from './run/schedule.ts';
import { Steps } from './run/steps.ts';
import type { SimulatedNode } from './simulatedNode.ts';
import { nameAndNamespace } from './stories/manifests.ts';
import { perform } from './stories/perform.ts';
import type { Action } from './stories/story.ts';
import { ActionLog } from './users/actionLog.ts';
import { Users } from './users/users.ts';

/** The latest statuses that the current agent has published. */
class PublishedPods {
  readonly #pods = new Map<string, Pod>();

  note({ uid, pod, removed }: PodChange): void {
    if (removed) this.#pods.delete(uid);
    else this.#pods.set(uid, pod);
  }

  readonly get = (uid: string): Pod | undefined => this.#pods.get(uid);

  clear(): void {
    this.#pods.clear();
  }
}

/** Interval at which to check whether a node has settled. */
const SETTLE_STEP_MS = 20_000;
const START_TIME = Date.UTC(2026, 0, 1);
/** Delay before a failed agent is started again, in milliseconds, as with `RestartSec=5` of systemd. */
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
  readonly actionLog = new ActionLog();
  readonly users: Users;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster: SimulatedCluster | undefined;
  readonly #random: Random;
  readonly #options: SimulationOptions;
  readonly #clock = new Schedule(START_TIME);
  readonly #trace: Trace | undefined;
  readonly #watch: InvariantWatch;
  #agentRun: AgentRun | undefined;
  readonly #deadAgents: DeadAgents;
  #agentCount = 0;
  #calls = 0;
  readonly #published = new PublishedPods();
  readonly #steps = new Steps();
  readonly #activityLimit = new ActivityLimit(this, (message) => this.#watch.noteViolation({ number: 9 }, message));
  readonly #exitCauses = new ExitCauses();
  readonly #faults: Faults;

  constructor(options: SimulationOptions) {
    checkOptions(options);
    const { replays = false, cgroups, diskLayout, cluster, objects: strategy } = options;
    this.#options = { ...options, records: options.records || replays };
    this.#random = new Random(options.seed);
    const onEffect = (effect: RuntimeEffect) => {
      this.#exitCauses.noteEffect(this, effect);
      this.#watch.call('onEffect', effect);
    };
    this.host = new SimulatedHost(this.#clock, this.#random.fork(), { onEffect, cgroups, diskLayout });
    this.users = new Users(this.host, this.actionLog, options.config);
    const input = () => ({ clock: this.#clock, random: this.#random.fork(), actionLog: this.actionLog });
    this.cluster = cluster?.({ ...input(), strategy, onChanged: (pod) => this.users.noteChanged(pod) });
    this.#faults = new Faults(this.host, options.faults);
    this.#trace = options.traces ? new Trace() : undefined;
    const position = () => ({ step: this.steps, elapsed: this.elapsed });
    this.#watch = new InvariantWatch(options.invariants ?? [], this.#watchedParts(), position);
    this.cluster?.onStatus((report) => this.#watch.call('onReport', report));
    if (this.#trace) this.#watch.addHooks(this.#trace.hooks(() => this.elapsed));
    this.#deadAgents = new DeadAgents(replays, (difference) =>
      this.#watch.noteViolation({ number: 8 }, `the replay of the recording differs: ${difference}`),
    );
  }

  get steps(): number {
    return this.#steps.count;
  }

  get elapsed(): number {
    return this.#clock.elapsed;
  }

  pods(): readonly Pod[] {
    return structuredClone(this.#agentRun?.agent?.pods() ?? []);
  }

  explain(pod: string): Explanation | undefined {
    return this.#agentRun?.agent?.explain(...nameAndNamespace(pod));
  }

  explainNode(): NodeExplanation | undefined {
    return this.#agentRun?.agent?.explainNode();
  }

  digest(): string {
    if (this.#trace !== undefined) return this.#trace.digest();
    throw new Error('this simulation has no `traces`');
  }

  recording(): Recording | undefined {
    if (!this.#options.records) throw new Error('this simulation has no `records`');
    return structuredClone(this.#agentRun === undefined ? this.#deadAgents.recording : this.#agentRun.recording);
  }

  /**
   * Replays the recording of the current agent. Throws an `InvariantViolated` if the replay ends in a different state.
   */
  async checkReplay(): Promise<void> {
    await this.#deadAgents.replay(this.#agentRun, this.recording());
    this.#watch.throwFirst();
  }

  async startAgent(): Promise<void> {
    this.#startAgentRun();
    await this.#turn();
  }

  #startAgentRun(): void {
    if (this.#agentRun !== undefined) return;
    this.#agentCount += 1;
    this.#published.clear();
    const agentRun = new AgentRun({
      host: this.host,
      random: this.#random.fork(),
      config: this.#options.config,
      activityLimit: this.#activityLimit,
      records: this.#options.records === true,
      cluster: this.cluster,
      inspect: (event) => this.#watch.run(() => this.#options.inspect?.(event)),
      plan: (call, index) => this.#watch.run(() => this.#faults.faultOf(call, index)),
      overtakes: this.#options.overtakes ? this.#random.fork() : undefined,
      faultsEnded: () => this.#faults.ended,
      nextIndex: () => this.#calls++,
      onCall: (call, fault) => this.#noteCall(call, fault),
      onAgentDied: () => this.#die(true),
      listener: {
        entryRecorded: (entry) => this.#noteEntry(entry),
        statusAccepted: (report) => this.#watch.call('onReport', report),
        podChanged: (change) => this.#noteStatus(change),
        event: (event) => this.#watch.call('onEvent', event),
        eventProcessed: (event) => {
          this.#steps.noteEvent(event);
          this.#watch.call('onTransition');
        },
        failed: (error) => this.#noteFailure(error),
      },
    });
    this.#agentRun = agentRun;
    this.#exitCauses.noteAgentStart();
    this.#watch.call('onAgentStarted');
    void agentRun.start();
  }

  kill({ cutsCalls = this.#random.chance(0.5) }: { readonly cutsCalls?: boolean } = {}): void {
    if (this.#agentRun === undefined) return;
    this.#agentRun.kill({ cutsCalls });
    this.#deadAgents.add(this.#agentRun);
    this.#agentRun = undefined;
  }

  /** Stops the agent gracefully, with or without draining its pods, and starts the next one after `downMs`. */
  async stopAgent({ drains, downMs }: { readonly drains: boolean; readonly downMs: number }): Promise<void> {
    const agentRun = this.#agentRun;
    await agentRun?.stopGracefully({ drains });
    if (agentRun !== undefined && this.#agentRun === agentRun) this.#die(false, downMs);
  }

  endFaults(): void {
    this.users.restoreAll();
    this.#faults.end();
    this.cluster?.recover();
  }

  apply(pod: object): void {
    this.users.apply(pod);
  }

  remove(pod: string): void {
    this.perform({ kind: 'remove', pod });
  }

  perform(action: Action): void {
    perform(this, action);
  }

  /** Starts an agent after `ms` milliseconds, unless one is running by then. */
  startAgentIn(ms: number): void {
    this.#clock.setTimeout(() => this.#startAgentRun(), ms);
  }

  setClock(ms: number): void {
    this.#watch.call('beforeJump');
    this.#clock.jump(ms);
  }

  /**
   * Cuts the power of the host, which kills the agent. The host boots at once, and `startAgent` starts the next agent.
   */
  cutPower(): void {
    this.kill({ cutsCalls: true });
    this.actionLog.noteGlobalCause(this.elapsed);
    this.host.cutPower(this.#random);
  }

  /** The number of calls to the outside by all agents so far. */
  get calls(): number {
    return this.#calls;
  }

  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms, () => this.#turn());
  }

  /**
   * Runs the checks of all invariants. Throws an `InvariantViolated` if one is broken. With `isAtRest`, also runs the
   * checks of a node at rest.
   */
  check({ isAtRest = false }: { readonly isAtRest?: boolean } = {}): void {
    this.#watch.call('whole');
    if (isAtRest) this.#watch.call('atRest');
    this.#watch.throwFirst();
    if (isAtRest) this.#watch.call('settled');
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
    this.#activityLimit.note(() => 'a timer');
    await nextTask();
    // A replay of a node that never comes to rest would not end either, so check before the replay.
    this.#watch.throwFirst();
    await this.#deadAgents.stopActors();
    this.#watch.call('afterStep');
    if (!this.#clock.isDue) this.#watch.checkIfDue(this.steps);
    this.#watch.throwFirst();
  }

  #noteFailure(error: unknown): void {
    // A `TypeError` is not caused by a fault of the outside. The node was started with an invalid configuration.
    if (error instanceof TypeError) this.#watch.noteError(error);
    this.#die(false);
  }

  #die(cutsCalls: boolean, downMs = RESTART_MS): void {
    this.kill({ cutsCalls });
    this.startAgentIn(downMs);
  }

  #noteEntry(entry: RecordedInput): void {
    this.#steps.noteEntry();
    this.users.noteEntry(entry);
    this.#watch.call('onEntry', entry);
    this.#trace?.add('entry', entry);
  }

  #noteCall(call: OutsideCall, fault: CallFault | undefined): void {
    this.#exitCauses.noteCall(this, call, fault);
    this.#watch.call('onCall', call, fault);
  }

  #noteStatus(change: PodChange): void {
    this.#published.note(change);
    this.#watch.call('onStatus', change);
  }

  #watchedParts(): Watched {
    const [agentRun, agentCount] = [() => this.#agentRun, () => this.#agentCount];
    const { host, cluster, actionLog } = this;
    return {
      ...limitsOf(this.#options),
      host,
      cluster,
      actionLog,
      podOf: this.#published.get,
      get agent() {
        return agentRun()?.agent;
      },
      get root() {
        return agentRun()?.root;
      },
      get agentNumber() {
        return agentCount();
      },
      get timers() {
        return agentRun()?.timers ?? 0;
      },
    };
  }
}
