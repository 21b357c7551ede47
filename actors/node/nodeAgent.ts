/** The actors of a node, with who looks on: the only way in to them while they run. */
import type { AnyActorRef, InspectionEvent, Snapshot } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { NodeFailure } from '../../base/failure.ts';
import { atOnce, type Steps } from '../../base/steps.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { waitOf } from '../../machines/admission/context.ts';
import { type ChangeableFacts, changeableFacts, type NodeInput } from '../../machines/node/context.ts';
import { type NodeCounts, nodeCounts } from '../../machines/node/counts.ts';
import { healthOf } from '../../machines/node/readiness.ts';
import { nodeView } from '../../machines/node/view.ts';
import { isWanted } from '../../machines/node/wanted.ts';
import type { CountedDecision } from '../../machines/shared/countedDecision.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { awaitedPods, runtimeNotReadyOf } from '../../machines/shared/views.ts';
import type { DueStatus } from '../../machines/statusSink/chart.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import { type PodWithTree, pairWithTrees } from '../../show/actors/podActors.ts';
import { explainNode, type NodeExplanation } from '../../show/explain/explainNode.ts';
import { explainPart, type PartExplanation, type PodPart } from '../../show/explain/explainPart.ts';
import { type Explanation, explainPod } from '../../show/explain.ts';
import type { LogTail, LogTails } from '../../show/logTail.ts';
import type { Boundary, BoundaryOptions } from '../boundary.ts';
import { drainNode } from '../drainNode.ts';
import { decisionListener, type EventSink, eventListener } from '../events/eventSink.ts';
import { createQueuedStartsCheck } from '../queuedStarts.ts';
import { copiedActors, persistedActor, plainCopier } from '../replay/persistedActors.ts';
import { createSinceMap, type SinceMap, type StateChange, type StateSince } from '../status/sinceMap.ts';
import {
  createStatusBoard,
  type PersistFacts,
  type PodChange,
  type StatusBoard,
  type StatusChange,
} from '../status/statusBoard.ts';
import { withErrorHandler } from '../withErrorHandler.ts';
import { limitersOf, type NodeOverview, overviewOf } from './overview.ts';
import { type RootActor, rootActor } from './rootActor.ts';

/**
 * The state of a whole node agent at one time, as plain JSON. A replay needs only this and the entries that follow. An object
 * that several actors refer to, such as the pod of its containers, is one object here as well.
 */
export interface Keyframe {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** All actors, as xstate writes them down. */
  readonly actors: unknown;
  /** Which state each actor is in since when, by its path. */
  readonly since: Readonly<Record<string, StateSince>>;
  /** The last status of each pod, by uid, whether it has been told or not. */
  readonly statuses: Readonly<Record<string, PodStatus>>;
  /** What had yet to be told until it is on disk, of each pod in its order; of one that is gone without a status. */
  readonly untold?: readonly { readonly uid: string; readonly status?: PodStatus }[];
  /** UIDs of the pods that have changed and whose status has yet to be computed. Absent if there are none. */
  readonly due?: readonly string[];
}

/** A keyframe that is yet to be copied. */
interface KeyframeDraft {
  readonly at: number;
  /** The work that is left, in short steps, between which the event loop may do anything else. */
  readonly steps: Steps<Keyframe>;
}

/** A node agent: pods in, statuses out. */
export interface NodeAgent {
  /** What its actors began with, as it may be written down: with the entries of the boundary all that a replay needs. */
  readonly input: NodeInput;
  start(): void;
  /**
   * Writes all of it down. Throws while something that was recorded has yet to take effect, for it would be lost to a
   * replay: what is told takes effect before the next task of the event loop.
   */
  keyframe(): Keyframe;
  /** Starts the same, to be finished later: the keyframe is of the present moment, whatever happens meanwhile. */
  draftKeyframe(): KeyframeDraft;
  /** Stops all actors at once and leaves whatever runs; resolves when nothing is left to write. */
  stop(): Promise<void>;
  /** Ends every pod gracefully; resolves when none is left. */
  drain(): Promise<void>;
  /** When the last thing entered it, or it was made: what it shows is of that moment. In milliseconds since the epoch. */
  now(): number;
  /** Lets a fact in from outside the feeds: how the other sources and tests speak to it. */
  tell(fact: NodeFact): void;
  pods(): readonly Pod[];
  /**
   * The same pods, and every other pod that a source wants, with the status that it has there. A new agent reports no pod
   * before it has adopted its containers, but they can be reached as soon as the pod is known (`GetPodByName` in
   * `pkg/kubelet/kubelet_getters.go`).
   */
  knownPods(): readonly Pod[];
  /**
   * UIDs of the pods of which more is known than is told: until that is on disk, until the status of a large pod is computed,
   * or because the agent was stopped.
   */
  untold(): readonly string[];
  /** The trees of the pods' actors, by uid. */
  trees(): ReadonlyMap<string, ActorNode>;
  /** That of one pod. */
  tree(uid: string): ActorNode | undefined;
  subscribe(listener: (change: PodChange) => void): () => void;
  /** Of the pod of this full name, of this name in its manifest, or of this UID; `logs` is how those of its failed containers end. */
  explain(name: string, namespace?: string, logs?: LogTails): Explanation | undefined;
  /** The same of the pod of a UID, whatever others are called. */
  explainUid(uid: string, logs?: LogTails): Explanation | undefined;
  /** The same of a container or a volume of it; `latestLog` is how the container's log ends now. */
  explainPart(uid: string, part: PodPart, logs?: LogTails, latestLog?: LogTail): PartExplanation | undefined;
  explainNode(): NodeExplanation;
  /** Its pods with their trees, as far as they may leave the agent. */
  seenPods(): PodWithTree[];
  overview(): NodeOverview;
  /** Whether starts wait for a slot while others get on, as far as one look after the other shows. */
  areStartsInLine(): boolean;
  /** How many of what there are: numbers, and the names of states. */
  counts(): NodeCounts;
  /** The file that a static pod comes from, by the pod's UID; undefined where it comes from elsewhere, or its file is gone. */
  manifestFile(uid: string): string | undefined;
  /** What of the node itself can change while it runs, as it is now. */
  facts(): ChangeableFacts;
  /** What its being ready depends on, and since when it is, or is not. */
  health(): ReturnType<typeof healthOf> & { readonly since: number | undefined };
}

/** Who is told what happens to the actors; what one of them throws goes to `onError` alone. */
interface Onlookers {
  readonly clock: Clock;
  readonly onError: BoundaryOptions['onError'];
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  readonly events?: EventSink | undefined;
  readonly decisions?: ((decision: CountedDecision) => void) | undefined;
  /** Told of each state that an actor comes into. */
  readonly moves?: ((move: StateChange) => void) | undefined;
  /** Keeps what a status rests on; absent: nothing outlives the agent. */
  readonly keep?: PersistFacts | undefined;
  /** Takes note of a change that is told; gives what sinks are to hear of it. */
  readonly report?: ((change: StatusChange) => DueStatus | undefined) | undefined;
  /** The moment that its actors go on from; absent: they begin. */
  readonly from?: Keyframe | undefined;
}

/** An agent into which everything comes through the given boundary: that of a live node, or a recording. */
export function agentBehind(boundary: Boundary, input: NodeInput, onlookers: Onlookers): NodeAgent {
  const { clock, onError, report } = onlookers;
  const actors = nodeActors(boundary, input, onlookers);
  const { root, board } = actors;
  if (report) board.subscribe(reporting(actors, boundary, report));
  return {
    get input() {
      return boundary.redact(input);
    },
    start: () => void root.start(),
    keyframe: () => atOnce(draftOf(actors, boundary).steps),
    draftKeyframe: () => draftOf(actors, boundary),
    stop: async () => {
      board.close();
      root.stop();
    },
    drain: () => drainNode(root, () => boundary.deliver(root, { type: 'node.drain', at: clock.now() })),
    now: boundary.now,
    tell: (fact) => boundary.deliver(root, fact),
    pods: () => board.pods(),
    knownPods: () => knownPods(actors),
    untold: () => [...new Set([...board.unpublished().map(({ uid }) => uid), ...board.dueUids()])],
    trees: () => board.trees(),
    tree: (uid) => board.tree(uid),
    subscribe: (listener) => board.subscribe(withErrorHandler('subscriber', listener, onError)),
    ...podExplanations(actors, clock, boundary),
    explainNode: () => boundary.redact(explainNode(nodeView(root, actors.since.since), clock.now())),
    overview: () => boundary.redact(overviewOf(actors)),
    areStartsInLine: createQueuedStartsCheck(actors.root, clock),
    counts: () => nodeCounts(root),
    // Who reads the files knows: a recording tells nothing of them.
    manifestFile: () => undefined,
    facts: () => changeableFacts(root.getSnapshot().context),
    health: () => boundary.redact(healthNow(actors)),
  };
}

function knownPods({ root, board }: NodeActors): readonly Pod[] {
  const reported = board.pods();
  const uids = new Set(reported.map(({ metadata }) => metadata.uid));
  const wanted = Object.values(root.getSnapshot().context.desired).flatMap((ofSource) => Object.values(ofSource));
  return [...reported, ...wanted.filter(({ metadata }) => !uids.has(metadata.uid))];
}

function draftOf({ root, board, since }: NodeActors, { now, isSettled, redactor }: Boundary): KeyframeDraft {
  if (!isSettled()) throw new Error('keyframe: what was recorded last has not taken effect yet; ask in the next task');
  const at = now();
  const due = board.dueUids();
  const untold = board
    .unpublished()
    .map(({ uid, removed, pod: { status } }) => (removed || status === undefined ? { uid } : { uid, status }));
  // All of this is replaced when it changes, and never changed in place.
  const found = { actors: persistedActor(root), since: since.statesBelow(root), statuses: [...board.statuses()] };
  const [redact, plainCopy] = [redactor(), plainCopier()];
  const copy = <T>(value: T): T => plainCopy(redact(value));
  return { at, steps: steps() };

  function* steps(): Generator<void, Keyframe> {
    const actors = yield* copiedActors(found.actors, copy);
    const statuses: [string, PodStatus][] = [];
    for (const [uid, status] of found.statuses) {
      statuses.push([uid, copy(status)]);
      yield;
    }
    return {
      at,
      actors,
      since: copy(found.since),
      statuses: Object.fromEntries(statuses),
      ...(untold.length > 0 ? { untold: copy(untold) } : {}),
      ...(due.length > 0 ? { due: copy(due) } : {}),
    };
  }
}

interface NodeActors {
  readonly root: RootActor;
  readonly board: StatusBoard;
  readonly since: SinceMap;
}

/** The actors, the board of their statuses, and since when each is in its state. */
function nodeActors(boundary: Boundary, input: NodeInput, onlookers: Onlookers): NodeActors {
  const { clock, onError, keep, from, moves } = onlookers;
  const since = createSinceMap(boundary, from?.since, moves && withErrorHandler('recorder', moves, onError));
  const board = createStatusBoard({
    clock: boundary,
    hostIps: () => root.getSnapshot().context.hostIps,
    since: since.since,
    runtimeName: () => root.getSnapshot().context.health.name,
    persist: keep && withErrorHandler('statuses', keep, onError),
    previousStatuses: from?.statuses,
    due: from?.due,
    delay: boundary.delay,
    onError,
  });
  const inspect = inspection({ board, since }, boundary, onlookers);
  const root: RootActor = rootActor(boundary, {
    id: 'nodeAgent',
    input,
    clock,
    inspect,
    // What a keyframe holds of the actors is what xstate wrote.
    ...(from ? { snapshot: from.actors as Snapshot<unknown> } : {}),
  });
  root.subscribe({
    error: (error) => onError('nodeAgent', error),
    complete: () => {
      const { failure } = root.getSnapshot().context;
      if (failure) onError('nodeAgent', new NodeFailure(failure.reason, failure.message));
    },
  });
  return { root, board, since };
}

/** What is done after each transition of an actor. */
function inspection(
  { board, since }: Pick<NodeActors, 'board' | 'since'>,
  boundary: Boundary,
  { inspect, events, decisions, onError }: Onlookers,
): (event: InspectionEvent) => void {
  const listen = events && eventListener(withErrorHandler('events', events, onError), boundary);
  const listenToDecisions = decisions && decisionListener(withErrorHandler('metrics', decisions, onError));
  const look = inspect && withErrorHandler('inspect', inspect, onError);
  return (event) => {
    // Every actor here is one of xstate's own.
    const ref = event.actorRef as AnyActorRef;
    if (event.type === '@xstate.actor') {
      since.add(ref);
      listen?.(ref);
      listenToDecisions?.(ref);
    }
    if (event.type === '@xstate.snapshot') {
      since.update(ref);
      board.noteTransition(ref);
      if (ref._parent === undefined) postAwaited(ref as RootActor, board);
    }
    look?.(event);
  };
}

/** Tells the sinks' actors of each status that is new; the status itself is not in the event, nor in a recording. */
const reporting =
  ({ root }: NodeActors, boundary: Boundary, report: NonNullable<Onlookers['report']>) =>
  (change: StatusChange): void => {
    const due = report(change);
    if (due && root.getSnapshot().status === 'active') boundary.deliver(root, { type: 'status.changed', ...due });
  };

/** Posts the pods that the node cannot begin with yet. */
function postAwaited(root: RootActor, board: StatusBoard): void {
  const snapshot = root.getSnapshot();
  const { context } = snapshot;
  const begins = snapshot.hasTag('beginning');
  board.refreshAddresses();
  board.setAwaited(begins ? awaitedPods(context) : [], (uid) => isWanted(context, uid));
}

/** Why a pod is in the state that it is in. */
function podExplanations(
  { root, board }: NodeActors,
  clock: Clock,
  { redact }: Boundary,
): Pick<NodeAgent, 'explain' | 'explainUid' | 'explainPart' | 'seenPods'> {
  const surroundings = () => {
    const { start, pull } = limitersOf(root);
    return { limiters: [start, pull], runtimeNotReady: runtimeNotReadyOf(root.getSnapshot().context.health) };
  };
  const explain = (seen: PodWithTree | undefined, logs: LogTails | undefined) =>
    seen && redact(explainPod(withAdmission(seen, root), clock.now(), { ...surroundings(), logs }));
  return {
    explain: (name, namespace, logs) => {
      const written = `${name}-${root.getSnapshot().context.nodeName.toLowerCase()}`;
      return explain(board.find(name, namespace) ?? board.find(written, namespace) ?? board.byUid(name), logs);
    },
    explainUid: (uid, logs) => explain(board.byUid(uid), logs),
    explainPart: (uid, part, logs, latestLog) => {
      const seen = board.byUid(uid);
      if (seen === undefined) return undefined;
      return redact(explainPart(withAdmission(seen, root), part, clock.now(), { ...surroundings(), logs, latestLog }));
    },
    seenPods: () => redact(pairWithTrees(board.pods(), board.trees()).map((seen) => withAdmission(seen, root))),
  };
}

/** One that waits to be admitted waits for what admission has put its request off for. */
function withAdmission({ pod, tree }: PodWithTree, root: RootActor): PodWithTree {
  const admission = tree.tags.includes('admitting') ? root.getSnapshot().children.admission : undefined;
  const waitingFor = admission && waitOf(admission.getSnapshot().context, pod.metadata.uid);
  return { pod, tree: waitingFor === undefined ? tree : { ...tree, waitingFor } };
}

function healthNow({ root, since }: NodeActors): ReturnType<NodeAgent['health']> {
  const snapshot = root.getSnapshot();
  const drains = snapshot.hasTag('draining');
  return {
    ...healthOf(snapshot.context, drains),
    since: drains ? since.since(root) : snapshot.context.readiness.since,
  };
}
