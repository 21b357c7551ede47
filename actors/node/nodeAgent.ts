/** Creates the actors of a node and their observers. All access to the running actors goes through `NodeAgent`. */
import type { AnyActorRef, InspectionEvent, Snapshot } from 'xstate';
import { runAllSteps, type Steps } from '../../base/async/steps.ts';
import { NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { ClaimState } from '../../kubernetes/claims/claimState.ts';
import { explainCpus } from '../../kubernetes/cpus/explainCpus.ts';
import { explainDevices } from '../../kubernetes/devices/deviceStatus.ts';
import type { DevicePool } from '../../kubernetes/devices/reserveDevices.ts';
import type { ImageUse } from '../../kubernetes/images/imageGarbage.ts';
import { explainMemory } from '../../kubernetes/numaMemory/explainMemory.ts';
import {
  type AdmissionContext,
  type CpuAllocation,
  type MemoryAllocation,
  waitDescription,
} from '../../machines/admission/context.ts';
import { type ChangeableFacts, changeableFacts, type NodeInput } from '../../machines/node/context.ts';
import { type NodeCounts, nodeCounts } from '../../machines/node/counts.ts';
import { isDesired } from '../../machines/node/pods/wanted.ts';
import { nodeHealth } from '../../machines/node/runtime/readiness.ts';
import { nodeView } from '../../machines/node/view.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import type { MachineDecision } from '../../machines/shared/events/machineDecision.ts';
import { podsAwaitingNode, runtimeNotReadyReason } from '../../machines/shared/views/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import { type PodWithTree, pairWithTrees } from '../../show/actors/podActors.ts';
import { explainNode, type NodeExplanation } from '../../show/explain/explainNode.ts';
import { explainPart, type PartExplanation, type PodPart } from '../../show/explain/explainPart.ts';
import { type Explanation, explainPod } from '../../show/explain.ts';
import type { LogTail, LogTails } from '../../show/logTail.ts';
import type { Boundary, BoundaryOptions } from '../boundary.ts';
import { decisionListener, type EventSink, eventListener } from '../events/eventSink.ts';
import { createQueuedStartsCheck } from '../queuedStartsCheck.ts';
import { copiedActors, persistedActor, plainCopier } from '../replay/persistedActors.ts';
import { createStateEntryMap, type StateChange, type StateEntry, type StateEntryMap } from '../status/sinceMap.ts';
import {
  createStatusBoard,
  type PersistFacts,
  type PodChange,
  type StatusBoard,
  type StatusChange,
} from '../status/statusBoard.ts';
import { StatusLedger } from '../status/statusLedger.ts';
import { withErrorHandler } from '../withErrorHandler.ts';
import { createOverview, type NodeOverview, readLimiters } from './overview.ts';
import type { RootActor } from './rootActor.ts';
import { createRootActor } from './rootActor.ts';

/**
 * The state of a whole node agent at one point in time, as plain JSON. A replay only needs the keyframe and the entries
 * that were recorded after it. An object that several actors share, e.g. the pod that all its containers refer to, is
 * also a single shared object here.
 */
export interface Keyframe {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The persisted snapshots of all actors, in XState's format. */
  readonly actors: unknown;
  /** The current state of each actor and its entry time, by the actor's path. */
  readonly since: Readonly<Record<string, StateEntry>>;
  /** The latest status of each pod by UID, published or not. */
  readonly statuses: Readonly<Record<string, PodStatus>>;
  /**
   * Status changes that were waiting to become durable, in order for each pod. `status` is absent for a removed pod.
   */
  readonly untold?: readonly { readonly uid: string; readonly status?: PodStatus }[];
  /** UIDs of the pods that have changed and whose status has yet to be computed. Undefined if there are none. */
  readonly due?: readonly string[];
}

/** A keyframe that has not been copied yet. */
interface KeyframeDraft {
  readonly at: number;
  /** The remaining work in short steps. Other tasks of the event loop may run between the steps. */
  readonly steps: Steps<Keyframe>;
}

export interface NodeAgent {
  /**
   * The redacted input of the actors. Together with the entries that the boundary records, it is sufficient for a
   * replay.
   */
  readonly input: NodeInput;
  start(): void;
  /**
   * Copies the state of all actors. Throws while a recorded entry has not taken effect yet, because a replay from the
   * keyframe would lose the entry. Entries take effect before the next task of the event loop.
   */
  keyframe(): Keyframe;
  /** Starts a keyframe of the current state. The state is copied later. */
  draftKeyframe(): KeyframeDraft;
  /** Stops all actors immediately and leaves the containers running. Resolves when all writes are complete. */
  stop(): Promise<void>;
  /** Terminates every pod gracefully. Resolves when all pods have been removed. */
  drain(): Promise<void>;
  /**
   * Returns the time of the last input, or of the agent's creation, in milliseconds since the epoch. The agent's
   * current state is the state at this time.
   */
  now(): number;
  /** Sends a fact that does not come from a feed. Used by additional sources and tests. */
  send(fact: NodeFact): void;
  /**
   * Relists the runtime's objects immediately. Once the actors have received the changes, resolves to whether the
   * runtime has responded. Resolves to false when the signal aborts, and in a replay.
   */
  relist(signal: AbortSignal): Promise<boolean>;
  /**
   * Returns how each of the runtime's images is used. Rejects if the runtime cannot list its images. Empty in a replay.
   */
  imageUses(signal: AbortSignal): Promise<readonly ImageUse[]>;
  pods(): readonly Pod[];
  /**
   * Returns the pods of `pods()` and every other pod that a source lists, with the status from its source. A new agent
   * reports no pod before it has adopted the pod's containers, but clients can reach the pod as soon as a source has
   * listed it (`GetPodByName` in `pkg/kubelet/kubelet_getters.go`).
   */
  knownPods(): readonly Pod[];
  /**
   * Returns the UIDs of the pods whose current state is newer than the published one, because the new state is not
   * durable yet, the status of a large pod has not been computed yet, or the agent was stopped.
   */
  unpublishedUids(): readonly string[];
  /** Returns the actor trees of all pods by UID. */
  trees(): ReadonlyMap<string, ActorNode>;
  tree(uid: string): ActorNode | undefined;
  subscribe(listener: (change: PodChange) => void): () => void;
  /**
   * Explains a pod. `name` is its full name, its name in the manifest, or its UID. `logs` contains the last log lines
   * of its failed containers.
   */
  explain(name: string, namespace?: string, logs?: LogTails): Explanation | undefined;
  explainUid(uid: string, logs?: LogTails): Explanation | undefined;
  /** Explains a container or volume of a pod. `latestLog` contains the last lines of the container's current log. */
  explainPart(uid: string, part: PodPart, logs?: LogTails, latestLog?: LogTail): PartExplanation | undefined;
  explainNode(): NodeExplanation;
  /** Returns the redacted pods with their actor trees. */
  podsWithTrees(): PodWithTree[];
  overview(): NodeOverview;
  /**
   * Whether pod starts are queued and progressing. Progress is detected by comparing the occupied slots with those at
   * the previous call.
   */
  hasQueuedStarts(): boolean;
  /** Returns counts of pods, containers and actors by state. */
  counts(): NodeCounts;
  /** Returns the CPU assignments and their policy. Undefined if the node does not assign CPUs. */
  cpus(): CpuAllocation | undefined;
  /** Returns the memory that admission has assigned. Undefined if the node does not assign NUMA memory. */
  memory(): MemoryAllocation | undefined;
  /** Returns the devices of device plugins and their allocations. Undefined if the node has no device plugins. */
  devices(): DevicePool | undefined;
  /**
   * Returns the resource claims of a container. Returns none in a replay, or if the preparation of any claim has not
   * started.
   */
  claims(pod: Pod, container: Container): readonly ClaimState[];
  /** Returns the manifest file of a static pod. Undefined for a pod from another source, or if the file is gone. */
  manifestFile(uid: string): string | undefined;
  /** Returns the current values of the node facts that can change at run time. */
  facts(): ChangeableFacts;
  /** Returns the readiness conditions and the time at which readiness last changed. */
  health(): ReturnType<typeof nodeHealth> & { readonly since: number | undefined };
}

/** Observers of the actors. Their exceptions go to `onError` and do not affect the actors. */
interface AgentObservers {
  readonly clock: Clock;
  readonly onError: BoundaryOptions['onError'];
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  readonly events?: EventSink | undefined;
  readonly onDecision?: ((decision: MachineDecision) => void) | undefined;
  /** Called for each state that an actor enters. */
  readonly onStateChange?: ((move: StateChange) => void) | undefined;
  /** Persists the facts that a status depends on. If undefined, nothing outlives the agent. */
  readonly persist?: PersistFacts | undefined;
  /** Tracks the status of each pod on its way to the sinks. If undefined, as in a replay, there are no sinks. */
  readonly ledger?: StatusLedger | undefined;
  /** The keyframe from which the actors resume. If undefined, they start from the input. */
  readonly from?: Keyframe | undefined;
}

/** Creates an agent whose inputs all come through the boundary of either a live node or a recording. */
export function createAgent(boundary: Boundary, input: NodeInput, observers: AgentObservers): NodeAgent {
  const { clock, onError, from, ledger = new StatusLedger({ previousStatuses: from?.statuses }) } = observers;
  const actors = createNodeActors(boundary, input, { ...observers, ledger });
  const { root, board: statusBoard } = actors;
  statusBoard.subscribe(notifySinks(actors, boundary, ledger));
  return {
    get input() {
      return boundary.redact(input);
    },
    start: () => void root.start(),
    keyframe: () => runAllSteps(createKeyframeDraft(actors, boundary).steps),
    draftKeyframe: () => createKeyframeDraft(actors, boundary),
    stop: async () => {
      statusBoard.close();
      root.stop();
    },
    drain: () => drainNode(root, () => boundary.deliver(root, { type: 'node.drain', at: clock.now() })),
    now: boundary.now,
    send: (fact) => boundary.deliver(root, fact),
    pods: () => statusBoard.pods(),
    knownPods: () => knownPods(actors),
    unpublishedUids: () => [
      ...new Set([...statusBoard.unpublishedChanges().map(({ uid }) => uid), ...statusBoard.dueUids()]),
    ],
    trees: () => statusBoard.trees(),
    tree: (uid) => statusBoard.tree(uid),
    subscribe: (listener) => statusBoard.subscribe(withErrorHandler('subscriber', listener, onError)),
    ...podExplanations(actors, clock, boundary),
    explainNode: () => boundary.redact(explainNode(nodeView(root, actors.since.enteredAt), clock.now())),
    overview: () => boundary.redact(createOverview(actors)),
    hasQueuedStarts: createQueuedStartsCheck(actors.root, clock),
    counts: () => nodeCounts(root),
    cpus: () => admissionOf(root).cpus,
    memory: () => admissionOf(root).memory,
    devices: () => admissionDevices(root),
    // Only the live node has a runtime.
    relist: async () => false,
    imageUses: async () => [],
    claims: () => [],
    // Only the live node reads manifest files. A recording does not contain their names.
    manifestFile: () => undefined,
    facts: () => changeableFacts(root.getSnapshot().context),
    health: () => boundary.redact(currentHealth(actors)),
  };
}

function knownPods({ root, board: statusBoard }: NodeActors): readonly Pod[] {
  const reportedPods = statusBoard.pods();
  const uids = new Set(reportedPods.map(({ metadata }) => metadata.uid));
  const desiredPods = Object.values(root.getSnapshot().context.desired).flatMap((ofSource) => Object.values(ofSource));
  return [...reportedPods, ...desiredPods.filter(({ metadata }) => !uids.has(metadata.uid))];
}

function createKeyframeDraft(
  { root, board: statusBoard, since: sinceMap }: NodeActors,
  { now, isSettled, redactor }: Boundary,
): KeyframeDraft {
  if (!isSettled()) throw new Error('keyframe: what was recorded last has not taken effect yet; ask in the next task');
  const at = now();
  const due = statusBoard.dueUids();
  const unpublishedStatuses = statusBoard
    .unpublishedChanges()
    .map(({ uid, removed, pod: { status } }) => (removed || status === undefined ? { uid } : { uid, status }));
  // These values are immutable and only ever replaced, so they can be copied later.
  const state = {
    actors: persistedActor(root),
    since: sinceMap.entriesBelow(root),
    statuses: [...statusBoard.statuses()],
  };
  const [redact, plainCopy] = [redactor(), plainCopier()];
  const copyRedacted = <T>(value: T): T => plainCopy(redact(value));
  return { at, steps: draftSteps() };

  function* draftSteps(): Generator<void, Keyframe> {
    const actors = yield* copiedActors(state.actors, copyRedacted);
    const statuses: [string, PodStatus][] = [];
    for (const [uid, status] of state.statuses) {
      statuses.push([uid, copyRedacted(status)]);
      yield;
    }
    return {
      at,
      actors,
      since: copyRedacted(state.since),
      statuses: Object.fromEntries(statuses),
      ...(unpublishedStatuses.length > 0 ? { untold: copyRedacted(unpublishedStatuses) } : {}),
      ...(due.length > 0 ? { due: copyRedacted(due) } : {}),
    };
  }
}

interface NodeActors {
  readonly root: RootActor;
  readonly board: StatusBoard;
  readonly since: StateEntryMap;
}

/** Creates the actors, the status board, and the map of state entry times. */
function createNodeActors(
  boundary: Boundary,
  input: NodeInput,
  observers: AgentObservers & { readonly ledger: StatusLedger },
): NodeActors {
  const { clock, onError, persist, from, ledger, onStateChange } = observers;
  const sinceMap = createStateEntryMap(
    boundary,
    from?.since,
    onStateChange && withErrorHandler('recorder', onStateChange, onError),
  );
  const statusBoard = createStatusBoard({
    clock: boundary,
    hostIps: () => root.getSnapshot().context.hostIps,
    since: sinceMap.enteredAt,
    runtimeName: () => root.getSnapshot().context.health.name,
    reportsDeviceHealth: input.reportsDeviceHealth,
    persist: persist && withErrorHandler('statuses', persist, onError),
    ledger,
    due: from?.due,
    delay: boundary.delay,
    onError,
  });
  const inspect = createInspector({ board: statusBoard, since: sinceMap }, boundary, observers);
  const root: RootActor = createRootActor(boundary, {
    id: 'nodeAgent',
    input,
    clock,
    inspect,
    // Safe cast: a keyframe contains the snapshot that XState wrote.
    ...(from ? { snapshot: from.actors as Snapshot<unknown> } : {}),
  });
  root.subscribe({
    error: (error) => onError('nodeAgent', error),
    complete: () => {
      const { failure } = root.getSnapshot().context;
      if (failure) onError('nodeAgent', new NodeFailure(failure.reason, failure.message));
    },
  });
  return { root, board: statusBoard, since: sinceMap };
}

/** Returns the inspector that runs after each transition of an actor. */
function createInspector(
  { board: statusBoard, since: sinceMap }: Pick<NodeActors, 'board' | 'since'>,
  boundary: Boundary,
  { inspect, events, onDecision, onError }: AgentObservers,
): (event: InspectionEvent) => void {
  const listenToEvents = events && eventListener(withErrorHandler('events', events, onError), boundary);
  const listenToDecisions = onDecision && decisionListener(withErrorHandler('metrics', onDecision, onError));
  const inspectSafely = inspect && withErrorHandler('inspect', inspect, onError);
  return (event) => {
    // Safe cast: all actors of this system are XState actors.
    const ref = event.actorRef as AnyActorRef;
    if (event.type === '@xstate.actor') {
      sinceMap.add(ref);
      listenToEvents?.(ref);
      listenToDecisions?.(ref);
    }
    if (event.type === '@xstate.snapshot') {
      sinceMap.update(ref);
      statusBoard.noteTransition(ref);
      if (ref._parent === undefined) postAwaitedPods(ref as RootActor, statusBoard);
    }
    inspectSafely?.(event);
  };
}

/**
 * Queues each published status for the sinks and notifies their actors. The event does not contain the status, so
 * recordings do not contain it either.
 */
const notifySinks =
  ({ root }: NodeActors, boundary: Boundary, ledger: StatusLedger) =>
  (change: StatusChange): void => {
    const pendingStatus = ledger.queueForSinks(change);
    if (pendingStatus && root.getSnapshot().status === 'active')
      boundary.deliver(root, { type: 'status.changed', ...pendingStatus });
  };

/** Adds to the status board the pods that the node cannot start yet. */
function postAwaitedPods(root: RootActor, board: StatusBoard): void {
  const snapshot = root.getSnapshot();
  const { context } = snapshot;
  const isNodeStarting = snapshot.hasTag('beginning');
  board.refreshAddresses();
  board.setAwaited(isNodeStarting ? podsAwaitingNode(context) : [], (uid) => isDesired(context, uid));
}

function podExplanations(
  { root, board: statusBoard }: NodeActors,
  clock: Clock,
  { redact }: Boundary,
): Pick<NodeAgent, 'explain' | 'explainUid' | 'explainPart' | 'podsWithTrees'> {
  const nodeContext = () => {
    const { start, pull } = readLimiters(root);
    return { limiters: [start, pull], runtimeNotReady: runtimeNotReadyReason(root.getSnapshot().context.health) };
  };
  const explain = (pod: PodWithTree | undefined, logs: LogTails | undefined) =>
    pod && redact(explainPod(withAdmissionFacts(pod, root), clock.now(), { ...nodeContext(), logs }));
  return {
    explain: (name, namespace, logs) => {
      const fullName = `${name}-${root.getSnapshot().context.nodeName.toLowerCase()}`;
      return explain(
        statusBoard.find(name, namespace) ?? statusBoard.find(fullName, namespace) ?? statusBoard.byUid(name),
        logs,
      );
    },
    explainUid: (uid, logs) => explain(statusBoard.byUid(uid), logs),
    explainPart: (uid, part, logs, latestLog) => {
      const podWithTree = statusBoard.byUid(uid);
      if (podWithTree === undefined) return undefined;
      return redact(
        explainPart(withAdmissionFacts(podWithTree, root), part, clock.now(), { ...nodeContext(), logs, latestLog }),
      );
    },
    podsWithTrees: () =>
      redact(
        pairWithTrees(statusBoard.pods(), statusBoard.trees()).map((podView) => withAdmissionFacts(podView, root)),
      ),
  };
}

/**
 * Adds information from admission to a pod: the reason why it waits, and the CPUs, memory and devices of its
 * containers.
 */
const withAdmissionFacts = (pod: PodWithTree, root: RootActor): PodWithTree =>
  withContainerDevices(withContainerResources(withAdmissionWait(pod, root), root), root);

const admissionOf = (root: RootActor): Pick<AdmissionContext, 'cpus' | 'memory'> =>
  root.getSnapshot().children.admission?.getSnapshot().context ?? {};

const admissionDevices = (root: RootActor): DevicePool | undefined =>
  root.getSnapshot().children.admission?.getSnapshot().context.devices?.pool;

/** Adds the CPUs and the memory of each container, if the node assigns them. */
function withContainerResources({ pod, tree }: PodWithTree, root: RootActor): PodWithTree {
  const { cpus, memory } = admissionOf(root);
  const explanations = [
    ...(cpus === undefined ? [] : [explainCpus(cpus.assignments, pod)]),
    ...(memory === undefined ? [] : [explainMemory(memory.assignments, pod)]),
  ];
  if (explanations.length === 0) return { pod, tree };
  const children = tree.children.map((child) => {
    if (!child.id.startsWith('container/')) return child;
    const facts = explanations.flatMap((byContainer) => byContainer.get(child.name) ?? []);
    return { ...child, facts: [...child.facts, ...facts] };
  });
  return { pod, tree: { ...tree, children } };
}

/** Adds the devices of each container, if the node has device plugins. */
function withContainerDevices({ pod, tree }: PodWithTree, root: RootActor): PodWithTree {
  const pool = admissionDevices(root);
  if (pool === undefined) return { pod, tree };
  const children = tree.children.map((child) => {
    const devices = child.id.startsWith('container/') ? explainDevices(pool, pod.metadata.uid, child.name) : [];
    return devices.length === 0 ? child : { ...child, facts: [...child.facts, ...devices] };
  });
  return { pod, tree: { ...tree, children } };
}

/** Adds the reason for the wait to a pod whose admission is deferred. */
function withAdmissionWait({ pod, tree }: PodWithTree, root: RootActor): PodWithTree {
  const admissionActor = tree.tags.includes('admitting') ? root.getSnapshot().children.admission : undefined;
  const admissionWait = admissionActor && waitDescription(admissionActor.getSnapshot().context, pod.metadata.uid);
  return { pod, tree: admissionWait === undefined ? tree : { ...tree, waitingFor: admissionWait } };
}

function currentHealth({ root, since: sinceMap }: NodeActors): ReturnType<NodeAgent['health']> {
  const snapshot = root.getSnapshot();
  const isNodeDraining = snapshot.hasTag('draining');
  return {
    ...nodeHealth(snapshot.context, isNodeDraining),
    since: isNodeDraining ? sinceMap.enteredAt(root) : snapshot.context.readiness.since,
  };
}

/** Drains a node. Resolves when all pods have been removed or the node has stopped. */
function drainNode(root: RootActor, drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    const finishDrain = () => {
      subscription.unsubscribe();
      resolve();
    };
    const subscription = root.subscribe({
      next: (snapshot) => {
        if (snapshot.status !== 'active') finishDrain();
      },
      complete: () => resolve(),
      error: () => resolve(),
    });
    if (root.getSnapshot().status !== 'active') return finishDrain();
    drain();
  });
}
