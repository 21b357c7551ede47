/** One agent over the simulated host, from its start to its end, which may come at any moment. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { waitOnce } from '../../../actors/alarm.ts';
import type { Entry } from '../../../actors/boundary.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import { createNode } from '../../../actors/node/createNode.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import { createRedaction, type Redaction } from '../../../actors/replay/redaction.ts';
import { nodeCredentials } from '../../../actors/services/images/nodeCredentials.ts';
import { readRuntimeClasses } from '../../../actors/services/sandboxes/runtimeClasses.ts';
import { SimulatedNetwork } from '../../../actors/simulated/network.ts';
import { readInPlace } from '../../../actors/simulated/readInPlace.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import { podsOfAgent } from '../../../actors/store/leftOnDisk.ts';
import { inProcessCri } from '../../../cri/simulated/inProcess.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { simulatedCgroups } from '../../../host/simulated/cgroups.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { pathOf } from '../../../machines/shared/actorRefs.ts';
import { SimulatedMounter } from '../../../volume/simulated/mounter.ts';
import type { Unrest } from '../checks/unrest.ts';
import { NodeEvents } from '../cluster/nodeEvents.ts';
import type { SimulatedCluster } from '../cluster/simulatedCluster.ts';
import { failureOf } from '../faults/failures.ts';
import { gatedFiles } from '../host/gatedFiles.ts';
import { apiServer, gatedRoom } from '../host/gatedRooms.ts';
import { gatedRuntime } from '../host/gatedRuntime.ts';
import { PLACES, type SimulatedHost } from '../host/host.ts';
import type { SimulationOptions } from '../options.ts';
import type { Random } from '../random.ts';
import { CGROUPS, NODE, PLACE } from './nodeConfig.ts';
import { Gate, type GateParts } from './outside.ts';
import type { Recording } from './recording.ts';
import { differenceOfReplay } from './replayed.ts';
import type { MortalClock } from './schedule.ts';

/** Who hears of what happens in an agent. */
interface LifeListener {
  /** Something has entered its actors. */
  entered(entry: Entry): void;
  /** A status, or the actors of a pod, have changed. */
  told(change: PodChange): void;
  /** The API server has taken a status. */
  reported(report: StatusReport): void;
  event: EventSink;
  /** One of its actors has taken an event. */
  took(event: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void;
  /** It cannot go on by itself: a daemon would exit. */
  failed(error: unknown): void;
}

const HOMES = { workingDir: '/', homeDir: '/root' };
const RESTART = { room: 'runtime', name: 'restartRuntime', about: '', writes: true } as const;

/** As systemd waits. */
const STOP_LIMIT_MS = 90_000;

const OPEN: Redaction = {
  learn: () => {},
  learnPods: () => {},
  learnValues: () => {},
  redact: (value) => value,
  redactor: () => (value) => value,
  texts: (value) => value,
};

/** The parts that look on. */
type Onlooker = Extract<
  keyof NodeParts,
  `on${string}` | 'events' | 'record' | 'calls' | 'answers' | 'moves' | 'decisions' | 'deeds' | 'inspect'
>;
/** What is made of other parts. */
type Made = 'openStore' | 'ports' | 'feeds';
/** Each part through which a node reaches the outside: one that is new does not compile without its simulated side. */
type Outside = Required<Omit<NodeParts, Onlooker | Made>>;

export interface LifeParts extends Omit<GateParts, 'clock' | 'onDeath'> {
  readonly host: SimulatedHost;
  readonly random: Random;
  /** Absent: the node belongs to none. */
  readonly cluster: SimulatedCluster | undefined;
  readonly config: SimulationOptions['config'];
  /** Whether all that enters its actors is kept; secrets are then kept out of what leaves it. */
  readonly records: boolean;
  readonly listener: LifeListener;
  readonly unrest: Unrest;
  readonly inspect: ((event: InspectionEvent) => void) | undefined;
  /** The agent has died at a call. */
  readonly onDeath: () => void;
}

export class Life {
  readonly #parts: LifeParts;
  readonly #clock: MortalClock;
  readonly #gate: Gate;
  readonly #entries: Entry[] = [];
  readonly #redaction: Redaction;
  readonly #cluster: ReturnType<SimulatedCluster['partsFor']> | undefined;
  /** Absent: nobody but the simulation hears of them. */
  readonly #events: NodeEvents | undefined;
  #agent: NodeAgent | undefined;
  #root: AnyActorRef | undefined;

  constructor(parts: LifeParts) {
    this.#parts = parts;
    this.#redaction = parts.records ? createRedaction(Buffer.alloc(32)) : OPEN;
    this.#clock = parts.host.clock.mortalClock();
    this.#gate = new Gate({
      ...parts,
      clock: this.#clock,
      onCall: (call, fate) => {
        this.#mayGoOn(() => `${call.name} (${call.room})`);
        parts.onCall(call, fate);
      },
    });
    this.#cluster = parts.cluster?.partsFor(this.#gate, this.#clock, (uid) => this.#events?.learnNode(uid));
    this.#events = this.#cluster && this.#eventsTo(this.#cluster.eventClient);
  }

  #eventsTo(client: KubeClient): NodeEvents {
    return new NodeEvents({
      client,
      clock: this.#clock,
      jitter: this.#parts.random.fraction,
      areStartsInLine: () => this.#agent?.areStartsInLine() ?? false,
      onState: (state) => {
        if (!this.#gate.isClosed && !this.hasStopped) this.#agent?.tell({ type: 'cluster.eventsChanged', state });
      },
    });
  }

  /** Absent until it has opened its store. */
  get agent(): NodeAgent | undefined {
    return this.#agent;
  }

  /** It has stopped by itself, and may still have something to write: its actors are no more. */
  get hasStopped(): boolean {
    return this.#root?.getSnapshot().status === 'stopped';
  }

  /** What has entered its actors so far. */
  get recording(): Recording | undefined {
    return this.#agent && { input: this.#agent.input, entries: this.#entries };
  }

  /** Where a replay comes to something else than its actors have; undefined where there are none to compare with. */
  async differenceOf(recording: Recording): Promise<string | undefined> {
    if (this.#agent === undefined || this.hasStopped) return undefined;
    return differenceOfReplay(this.#agent, recording, this.#redaction.redact);
  }

  get root(): AnyActorRef | undefined {
    return this.#root;
  }

  /** How many timers of it wait. */
  get timers(): number {
    return this.#clock.pending;
  }

  async start(): Promise<void> {
    const { host, listener } = this.#parts;
    host.troubles.beginLife();
    try {
      const agent = await this.#make();
      if (this.#gate.isClosed) return void agent.stop();
      this.#agent = agent;
      agent.subscribe((change) => this.#gate.isClosed || listener.told(change));
      agent.start();
    } catch (error) {
      if (!this.#gate.isClosed) listener.failed(error);
    }
  }

  /** Lets it stop by itself, for as long as a service manager waits for that. */
  async retire({ drains }: { readonly drains: boolean }): Promise<void> {
    const late = new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, STOP_LIMIT_MS));
    const stopped = async () => {
      if (drains) await this.#agent?.drain();
      await this.#agent?.stop();
    };
    await Promise.race([late, stopped().catch(() => {})]);
  }

  /**
   * Ends it as SIGKILL does: nothing goes out or comes in any more, and nobody hears of it. Its actors still take what
   * had come in by then, until they are stopped. `cutsCalls`: its connections break, and what it had asked for is given
   * up.
   */
  end({ cutsCalls }: { readonly cutsCalls: boolean }): void {
    this.#gate.close({ cutsCalls });
    this.#clock.end();
  }

  /** Stops its actors where they are. */
  stop(): void {
    void this.#agent?.stop();
  }

  /** Ends it where it does not come to rest; also what of a dead one goes on. */
  #mayGoOn(what: () => string): boolean {
    const may = this.#parts.unrest.note(what);
    if (!may) this.end({ cutsCalls: true });
    return may;
  }

  /** Ends actors that go on for ever in one step: only an error in the midst of it does, and one that xstate passes on. */
  #watchSteps(root: AnyActorRef): void {
    root.system.inspect((event) => {
      if (event.type !== '@xstate.microstep') return;
      const path = () => pathOf(event.actorRef as AnyActorRef).join('/') || 'the node';
      if (!this.#mayGoOn(() => `${path()} on ${event.event.type}`)) throw new Error('it does not come to rest');
    });
  }

  #make(): Promise<NodeAgent> {
    const { config, host } = this.#parts;
    const cgroups = { ...CGROUPS, perQos: host.cgroupsAre !== 'unused' };
    return createNode(
      { ...NODE, ...config, ...PLACE, hostIps: () => host.addresses, cgroups },
      { ...this.#outside(), ...this.#onlookers() },
    );
  }

  /** Everything that it reaches, through its gate. */
  #outside(): Outside {
    const { host, random, listener } = this.#parts;
    const clock = this.#clock;
    const files = gatedFiles(host.files, this.#gate, host.watches);
    return {
      cri: inProcessCri(gatedRuntime(host.runtime, this.#gate, clock)),
      clock,
      files,
      jitter: random.fraction,
      redaction: this.#redaction,
      // A cluster is told by a sink of its own.
      sinks: this.#cluster ? [] : [{ name: 'api', mustAcknowledge: true, put: apiServer(this.#gate, listener) }],
      cluster: this.#cluster,
      keptObjects: undefined,
      // What pods get of it comes from the cluster alone.
      objects: undefined,
      tokens: undefined,
      trustBundles: undefined,
      mounter: new SimulatedMounter(host.disk, gatedRoom('mounts', this.#gate)),
      network: new SimulatedNetwork({
        clock,
        serverAt: (address, port) => host.serverAt(address, port),
        gate: gatedRoom('network', this.#gate),
      }),
      readClasses: () => readRuntimeClasses(PLACES.classes, () => {}, files),
      findCredentials: nodeCredentials({ rootDir: PLACES.root, ...HOMES, files, onUnusable: () => {} }),
      restartRuntime: () =>
        this.#gate.passNow(RESTART, { act: () => host.restartRuntime(), failure: (code) => failureOf(RESTART, code) }),
      startThread: readInPlace,
      nextTurn: async () => {},
      cgroups: host.cgroupsAre === 'unused' ? undefined : this.#cgroups(files),
    };
  }

  #cgroups(files: FileSystem): Cgroups {
    return simulatedCgroups(this.#parts.host.cgroups, gatedRoom('cgroups', this.#gate), {
      place: { cgroupRoot: '', cgroupDriver: 'cgroupfs' },
      rules: CGROUPS,
      enforced: NODE.capacity,
      ownPods: () => podsOfAgent(PLACE, files),
      wait: (ms, signal) => waitOnce(this.#clock.now() + ms, this.#clock, signal),
      onWarning: () => {},
    });
  }

  #onlookers() {
    const { listener, inspect, records } = this.#parts;
    const gate = this.#gate;
    return {
      events: (event: Parameters<EventSink>[0]) => {
        if (gate.isClosed) return;
        listener.event(event);
        this.#events?.record(event);
      },
      record: (entry: Entry) => {
        if (records) this.#entries.push(entry);
        if (!gate.isClosed) listener.entered(entry);
      },
      inspect: (event: InspectionEvent) => {
        // Every actor here is one of xstate's own.
        const ref = event.actorRef as AnyActorRef;
        if (event.type === '@xstate.actor' && ref._parent === undefined) this.#watchSteps(ref);
        if (gate.isClosed) return;
        inspect?.(event);
        if (event.type !== '@xstate.snapshot') return;
        if (ref._parent === undefined) this.#root = ref;
        listener.took(event);
      },
      onError: (source: string, error: unknown) => {
        if (source === 'nodeAgent' && !gate.isClosed) listener.failed(error);
      },
    };
  }
}
