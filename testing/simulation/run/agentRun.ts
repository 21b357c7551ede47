/** One agent on the simulated host, from its start until it stops or is killed, which may happen at any time. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { waitOnce } from '../../../actors/alarm.ts';
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import { createNode } from '../../../actors/node/createNode.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import { createRedaction, type Redaction } from '../../../actors/replay/redaction.ts';
import { nodeCredentials } from '../../../actors/services/images/nodeCredentials.ts';
import { readRuntimeClasses } from '../../../actors/services/sandboxes/runtimeClasses.ts';
import { simulatedMeter } from '../../../actors/simulated/simulatedMeter.ts';
import { SimulatedNetwork } from '../../../actors/simulated/simulatedNetwork.ts';
import { startInlineReader } from '../../../actors/simulated/startInlineReader.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import { podsOfAgent } from '../../../actors/store/leftOnDisk.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { simulatedCgroups } from '../../../host/simulated/simulatedCgroups.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { actorPath } from '../../../machines/shared/views/actorRefs.ts';
import { SimulatedMounter } from '../../../volume/simulated/simulatedMounter.ts';
import type { ActivityLimit } from '../checks/activityLimit.ts';
import { NodeEvents } from '../cluster/nodeEvents.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import { callError } from '../faults/failures.ts';
import { gatedFiles } from '../host/gatedFiles.ts';
import { gatedRuntime } from '../host/gatedRuntime.ts';
import { PATHS, type SimulatedHost } from '../host/host.ts';
import { gatedDevicePlugins } from '../host/simulatedDevices.ts';
import { gatedStatusSink, targetGate } from '../host/targetGate.ts';
import type { SimulationOptions } from '../options.ts';
import type { Random } from '../random.ts';
import { Gate, type GateParts } from './gate.ts';
import { CGROUP_FACTS, NODE_DEFAULTS, NODE_PATHS } from './nodeConfig.ts';
import type { Recording } from './recording.ts';
import { replayDifference } from './replayDifference.ts';
import type { StoppableClock } from './schedule.ts';

interface AgentListener {
  /** Called when an entry has been sent to the actors. */
  entryRecorded(entry: RecordedInput): void;
  /** Called when the status or the actors of a pod have changed. */
  podChanged(change: PodChange): void;
  /** Called when the API server has accepted a status. */
  statusAccepted(report: StatusReport): void;
  event: EventSink;
  /** Called when an actor has processed an event. */
  eventProcessed(event: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void;
  /** Called when the agent has failed with an error at which a daemon would exit. */
  failed(error: unknown): void;
}

const HOMES = { workingDir: '/', homeDir: '/root' };
const READ_KERNEL_LOG = { target: 'disk', name: 'readFile', about: '/dev/kmsg', writes: false } as const;
const RESTART_RUNTIME = { target: 'runtime', name: 'restartRuntime', about: '', writes: true } as const;

/** The stop timeout of systemd (`TimeoutStopSec`). */
const STOP_LIMIT_MS = 90_000;

const NO_REDACTION: Redaction = {
  learn: () => {},
  learnPods: () => {},
  learnValues: () => {},
  redact: (value) => value,
  redactor: () => (value) => value,
  texts: (value) => value,
};

/** The parts that only observe. */
type ObserverPart = Extract<keyof NodeParts, `on${string}` | 'events' | 'inspect'>;
/** The parts that `createNode` derives from other parts. */
type DerivedPart = 'openStore' | 'ports' | 'feeds';
/**
 * All parts through which a node reaches the outside. A new part does not compile until it has a simulated
 * implementation.
 */
type OutsideParts = Required<Omit<NodeParts, ObserverPart | DerivedPart>>;

export interface AgentRunParts extends Omit<GateParts, 'clock' | 'onAgentDied'> {
  readonly host: SimulatedHost;
  readonly random: Random;
  /** Undefined if the node belongs to no cluster. */
  readonly cluster: SimulatedCluster | undefined;
  readonly config: SimulationOptions['config'];
  /** Whether to record all entries. Secrets are then redacted in everything that leaves the actors. */
  readonly records: boolean;
  readonly listener: AgentListener;
  readonly activityLimit: ActivityLimit;
  readonly inspect: ((event: InspectionEvent) => void) | undefined;
  /** Called when the agent dies during a call. */
  readonly onAgentDied: () => void;
}

export class AgentRun {
  readonly #parts: AgentRunParts;
  readonly #clock: StoppableClock;
  readonly #gate: Gate;
  readonly #entries: RecordedInput[] = [];
  readonly #redaction: Redaction;
  readonly #cluster: ReturnType<SimulatedCluster['partsFor']> | undefined;
  /** Undefined without a cluster. */
  readonly #events: NodeEvents | undefined;
  #agent: NodeAgent | undefined;
  #root: AnyActorRef | undefined;

  constructor(parts: AgentRunParts) {
    this.#parts = parts;
    this.#redaction = parts.records ? createRedaction(Buffer.alloc(32)) : NO_REDACTION;
    this.#clock = parts.host.clock.stoppableClock();
    this.#gate = new Gate({
      ...parts,
      clock: this.#clock,
      onCall: (call, fault) => {
        this.#noteActivity(() => `${call.name} (${call.target})`);
        parts.onCall(call, fault);
      },
    });
    this.#cluster = parts.cluster?.partsFor(this.#gate, this.#clock, (uid) => this.#events?.setNodeUid(uid));
    this.#events = this.#cluster && this.#eventsTo(this.#cluster.eventClient);
  }

  #eventsTo(client: KubeClient): NodeEvents {
    return new NodeEvents({
      client,
      clock: this.#clock,
      jitter: this.#parts.random.fraction,
      hasQueuedStarts: () => this.#agent?.hasQueuedStarts() ?? false,
      onState: (state) => {
        if (!this.#gate.isClosed && !this.hasStopped) this.#agent?.send({ type: 'cluster.eventsChanged', state });
      },
    });
  }

  /** Undefined until the agent has opened its store. */
  get agent(): NodeAgent | undefined {
    return this.#agent;
  }

  /** Whether the agent has stopped by itself. Its actors are stopped, but it may still be writing. */
  get hasStopped(): boolean {
    return this.#root?.getSnapshot().status === 'stopped';
  }

  /** The entries that the actors have received so far. */
  get recording(): Recording | undefined {
    return this.#agent && { input: this.#agent.input, entries: this.#entries };
  }

  /**
   * Returns the first difference between the agent and a replay of the recording, or undefined if there is none or the
   * agent has stopped.
   */
  async replayDifference(recording: Recording): Promise<string | undefined> {
    if (this.#agent === undefined || this.hasStopped) return undefined;
    return replayDifference(this.#agent, recording, this.#redaction.redact);
  }

  get root(): AnyActorRef | undefined {
    return this.#root;
  }

  /** The number of pending timers. */
  get timers(): number {
    return this.#clock.pending;
  }

  async start(): Promise<void> {
    const { host, listener } = this.#parts;
    host.runtimeFaults.noteAgentStart();
    try {
      const agent = await this.#createAgent();
      if (this.#gate.isClosed) return void agent.stop();
      this.#agent = agent;
      agent.subscribe((change) => this.#gate.isClosed || listener.podChanged(change));
      agent.start();
    } catch (error) {
      if (!this.#gate.isClosed) listener.failed(error);
    }
  }

  /** Stops the agent gracefully, waiting for at most `STOP_LIMIT_MS`. */
  async stopGracefully({ drains }: { readonly drains: boolean }): Promise<void> {
    const timeout = new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, STOP_LIMIT_MS));
    const stop = async () => {
      if (drains) await this.#agent?.drain();
      await this.#agent?.stop();
    };
    await Promise.race([timeout, stop().catch(() => {})]);
  }

  /**
   * Kills the agent as SIGKILL does, so that no call or event leaves or reaches it any more. Its actors still process
   * the events that they have received, until `stopActors`. `cutsCalls` breaks its connections and aborts its pending
   * calls.
   */
  kill({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#gate.close({ cutsCalls });
    this.#clock.stop();
  }

  /** Stops the actors. */
  stopActors(): void {
    void this.#agent?.stop();
  }

  /**
   * Counts an activity, and kills the agent if it exceeds the activity limit, even if the agent is dead and only its
   * actors still run. Returns whether the activity is within the limit.
   */
  #noteActivity(what: () => string): boolean {
    const isWithinLimit = this.#parts.activityLimit.note(what);
    if (!isWithinLimit) this.kill({ cutsCalls: true });
    return isWithinLimit;
  }

  /**
   * Stops actors that never come to rest within one step. Only an error thrown during the step can stop them, and
   * XState propagates it.
   */
  #watchSteps(root: AnyActorRef): void {
    root.system.inspect((event) => {
      if (event.type !== '@xstate.microstep') return;
      const path = () => actorPath(event.actorRef as AnyActorRef).join('/') || 'the node';
      if (!this.#noteActivity(() => `${path()} on ${event.event.type}`)) throw new Error('it does not come to rest');
    });
  }

  #createAgent(): Promise<NodeAgent> {
    const { config, host } = this.#parts;
    const exclusiveCpus = config?.cpuManager !== undefined;
    const cgroups = { ...CGROUP_FACTS, perQos: host.cgroupAccess !== 'unused', exclusiveCpus };
    return createNode(
      { ...NODE_DEFAULTS, ...config, ...NODE_PATHS, hostIps: () => host.addresses, cgroups },
      { ...this.#outsideParts(), ...this.#observers() },
    );
  }

  /** Returns the parts through which the agent reaches the outside. All their calls pass its gate. */
  #outsideParts(): OutsideParts {
    const { host, random, listener } = this.#parts;
    const clock = this.#clock;
    const files = gatedFiles(host.files, this.#gate, host.watches);
    return {
      cri: inProcessCri(gatedRuntime(host.runtime, this.#gate, clock)),
      clock,
      files,
      jitter: random.fraction,
      redaction: this.#redaction,
      // A node of a cluster has its own status sink.
      sinks: this.#cluster ? [] : [{ name: 'api', mustAcknowledge: true, put: gatedStatusSink(this.#gate, listener) }],
      cluster: this.#cluster,
      objectCachePrefix: undefined,
      // The objects of a node of a cluster come from the cluster alone.
      objects: undefined,
      tokens: undefined,
      trustBundles: undefined,
      mounter: new SimulatedMounter(host.disk, targetGate('mounts', this.#gate)),
      devicePlugins: gatedDevicePlugins(host.devices, this.#gate),
      network: new SimulatedNetwork({
        clock,
        findServer: (address, port) => host.serverAt(address, port),
        gate: targetGate('network', this.#gate),
      }),
      readImageDisk: (path, signal) => {
        const call = { target: 'disk', name: 'statfs', about: path, writes: false } as const;
        const failure = (code: string | undefined) => callError(call, code);
        return this.#gate.pass(call, { act: () => host.runtime.imageDisk(), failure, signal }).catch(() => undefined);
      },
      readClasses: () => readRuntimeClasses(PATHS.classes, () => {}, files),
      findCredentials: nodeCredentials({ rootDir: PATHS.root, ...HOMES, files, onUnusable: () => {} }),
      logind: host.logind.open(targetGate('network', this.#gate)),
      resourceMeter: simulatedMeter(host.resources, targetGate('cgroups', this.#gate)),
      drivers: host.drivers.accessThrough(targetGate('drivers', this.#gate)),
      restartRuntime: () =>
        this.#gate.passSync(RESTART_RUNTIME, {
          act: () => host.restartRuntime(),
          failure: (code) => callError(RESTART_RUNTIME, code),
        }),
      kernelLog: host.kernelLog.open((act, signal) =>
        this.#gate.pass(READ_KERNEL_LOG, { act, failure: (code) => callError(READ_KERNEL_LOG, code), signal }),
      ),
      // The simulated cgroups do not count OOM kills.
      countOomKills: undefined,
      startThread: startInlineReader,
      nextTurn: async () => {},
      cgroups: host.cgroupAccess === 'unused' ? undefined : this.#cgroups(files),
    };
  }

  #cgroups(files: FileSystem): Cgroups {
    return simulatedCgroups(this.#parts.host.cgroups, targetGate('cgroups', this.#gate), {
      parentCgroup: { cgroupRoot: '', cgroupDriver: 'cgroupfs' },
      rules: CGROUP_FACTS,
      enforcedLimits: NODE_DEFAULTS.capacity,
      listOwnPods: () => podsOfAgent(NODE_PATHS, files),
      wait: (ms, signal) => waitOnce(this.#clock.now() + ms, this.#clock, signal),
      onWarning: () => {},
    });
  }

  #observers() {
    const { listener, inspect, records } = this.#parts;
    const gate = this.#gate;
    return {
      events: (event: Parameters<EventSink>[0]) => {
        if (gate.isClosed) return;
        listener.event(event);
        this.#events?.record(event);
      },
      onInput: (entry: RecordedInput) => {
        if (records) this.#entries.push(entry);
        if (!gate.isClosed) listener.entryRecorded(entry);
      },
      inspect: (event: InspectionEvent) => {
        // All actors of the agent are XState actors.
        const ref = event.actorRef as AnyActorRef;
        if (event.type === '@xstate.actor' && ref._parent === undefined) this.#watchSteps(ref);
        if (gate.isClosed) return;
        inspect?.(event);
        if (event.type !== '@xstate.snapshot') return;
        if (ref._parent === undefined) this.#root = ref;
        listener.eventProcessed(event);
      },
      onError: (source: string, error: unknown) => {
        if (source === 'nodeAgent' && !gate.isClosed) listener.failed(error);
      },
    };
  }
}
