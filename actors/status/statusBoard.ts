/** Computes the pod statuses after each turn of the actors and publishes changed ones. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { isSamePodStatus, podStatus } from '../../kubernetes/status/status.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import type { GetStateSince } from '../../machines/shared/stateMeta.ts';
import { hasFailureInTree } from '../../machines/shared/views/actorTree.ts';
import { isBeingAdopted, type PodRef, type PodViewWithTree, podView } from '../../machines/shared/views/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import type { PodWithTree } from '../../show/actors/podActors.ts';
import type { Boundary } from '../boundary.ts';
import { tryRun } from '../withErrorHandler.ts';
import {
  byNamespaceAndName,
  type ComputedPod,
  hasSamePodObject,
  isPodActor,
  matchesName,
  type VisiblePod,
  visiblePod,
  withStatus,
} from './computedPod.ts';
import { affectsStatus, podOfActor } from './podOfActor.ts';
import { createPodTrees, type PodTrees } from './podTrees.ts';
import type { ComputedStatus, StatusLedger } from './statusLedger.ts';

/**
 * A change of a pod's status or of its actors' states. `removed` is set when the pod has been removed from the node.
 * The tree is computed on first access, from the actors' states at that time.
 */
export interface PodChange extends PodWithTree {
  readonly uid: string;
  readonly removed: boolean;
  /** Whether any of the pod's actors has failed. If not, listeners can skip the tree. */
  readonly hasFailures: boolean;
}

/** A change together with the view that its status was computed from. */
export interface StatusChange extends PodChange {
  readonly view: PodView;
}

/**
 * Persists the facts that a change depends on. The change is published once the returned promise has settled, because a
 * restart must not contradict a published status.
 */
export type PersistFacts = (change: StatusChange) => Promise<unknown> | undefined;

export interface StatusBoard {
  /** Must be called after each transition of an actor. */
  noteTransition(ref: AnyActorRef): void;
  refreshAddresses(): void;
  /**
   * Adds pods that have no actor yet, with the reasons why they wait, and removes previously added pods that are no
   * longer desired. When a pod gets an actor, the actor's status replaces the added one.
   */
  setAwaited(awaited: readonly PodViewWithTree[], isWanted: (uid: string) => boolean): void;
  pods(): readonly Pod[];
  /**
   * Returns the changes that wait to become durable, in order for each pod. After `close`, returns the changes that
   * were never published.
   */
  unpublishedChanges(): readonly ComputedStatus[];
  /** Returns the latest status of each pod by UID, published or not. The next status is computed from it. */
  statuses(): ReadonlyMap<string, PodStatus>;
  /** Returns the UIDs of the pods that have changed and whose status has yet to be computed. */
  dueUids(): readonly string[];
  /** Returns the actor trees of all pods by UID. */
  trees(): ReadonlyMap<string, ActorNode>;
  tree(uid: string): ActorNode | undefined;
  /** Returns the pod with this name, in any namespace if none is specified. */
  find(name: string, namespace?: string): PodWithTree | undefined;
  byUid(uid: string): PodWithTree | undefined;
  subscribe(listener: (change: StatusChange) => void): () => void;
  close(): void;
}

export interface StatusBoardOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The node's current addresses, the primary one first. */
  readonly hostIps: () => readonly string[];
  readonly since: GetStateSince;
  /** The scheme of container IDs, e.g. `containerd`. */
  readonly runtimeName: () => string;
  /** Whether the statuses contain the health of devices. Defaults to true. */
  readonly reportsDeviceHealth?: boolean | undefined;
  readonly persist?: PersistFacts | undefined;
  /** Called with errors that concern a single pod. Other pods are not affected. */
  readonly onError: (source: string, error: unknown) => void;
  /** The ledger of pod statuses, including statuses from before the board was created. */
  readonly ledger: StatusLedger;
  /** UIDs of the pods that had changed before the board was created and whose status was yet to be computed. */
  readonly due?: readonly string[] | undefined;
  /** Calls a function after a delay in milliseconds. A replay calls it at the same point. */
  readonly delay: Boundary['delay'];
}

export const createStatusBoard = (options: StatusBoardOptions): StatusBoard => new Board(options);

class Board implements StatusBoard {
  readonly #options: StatusBoardOptions;
  readonly #ledger: StatusLedger;
  /** UIDs of the pods in the ledger that have no actor yet. */
  readonly #awaitedUids = new Set<string>();
  /**
   * Pods that are being adopted, i.e. whose containers are not known yet. Their status is not published, but queries
   * return the reason why they wait.
   */
  readonly #adoptedPods = new Map<string, PodRef>();
  readonly #changedPods = new Set<PodRef>();
  /** Pods whose status could not be computed. The computation is retried when the next pod changes. */
  readonly #failedPods = new Set<PodRef>();
  readonly #podTrees: PodTrees;
  readonly #listeners = new Set<(change: StatusChange) => void>();
  readonly #probeResults = new WeakMap<AnyActorRef, string>();
  /** The addresses that the current statuses contain. */
  #hostIps: readonly string[] | undefined;
  /** The large pods that have changed, by UID. */
  readonly #duePods = new Map<string, DuePod>();
  /** Time at which the status of each large pod was last computed, in milliseconds since the epoch. Keyed by UID. */
  readonly #lastComputedAt = new Map<string, number>();
  /**
   * UIDs of the pods that start with their previous status, because their next status was already due before the board
   * was created.
   */
  readonly #overdueUids: Set<string>;
  #isUpdateScheduled = false;
  #isClosed = false;
  /** The unpublished changes at the time when the board was closed. */
  #unpublishedAtClose: readonly ComputedStatus[] | undefined;
  /** UIDs of the pods whose status was due when the board was closed. */
  #dueUidsAtClose: readonly string[] | undefined;

  constructor(options: StatusBoardOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
    this.#overdueUids = new Set(options.due);
    this.#podTrees = createPodTrees(options.since);
  }

  noteTransition(ref: AnyActorRef): void {
    if (this.#isClosed) return;
    const pod = podOfActor(ref);
    // Actors outside of pods do not affect statuses.
    if (pod === undefined) return;
    this.#podTrees.invalidateTree(pod);
    if (affectsStatus(this.#probeResults, ref)) this.#scheduleStatus(pod);
  }

  refreshAddresses(): void {
    const currentIps = this.#options.hostIps();
    if (this.#isClosed || currentIps === this.#hostIps) return;
    this.#hostIps = currentIps;
    for (const { shown: actorOrTree } of this.#ledger.computedPods())
      if (isPodActor(actorOrTree)) this.#scheduleStatus(actorOrTree);
  }

  setAwaited(awaited: readonly PodViewWithTree[], isWanted: (uid: string) => boolean): void {
    for (const uid of this.#awaitedUids) {
      const computedPod = isWanted(uid) ? undefined : this.#ledger.computed(uid);
      if (computedPod === undefined) continue;
      this.#awaitedUids.delete(uid);
      this.#ledger.removeComputed(uid);
      this.#publishWhenDurable(computedPod, true);
    }
    for (const { view, tree } of awaited) {
      const currentActor = this.#ledger.computed(view.pod.metadata.uid)?.shown;
      if (currentActor === undefined || (!isPodActor(currentActor) && currentActor.waitingFor !== tree.waitingFor))
        this.#tryRun(() => this.#postPod(view, tree));
    }
  }

  pods(): readonly Pod[] {
    return this.#ledger.durablePods().toSorted(byNamespaceAndName);
  }

  unpublishedChanges = (): readonly ComputedStatus[] => this.#unpublishedAtClose ?? this.#ledger.awaitingFacts();

  statuses(): ReadonlyMap<string, PodStatus> {
    return new Map(
      this.#ledger.computedPods().flatMap(({ pod: { metadata, status } }) => (status ? [[metadata.uid, status]] : [])),
    );
  }

  dueUids = (): readonly string[] => this.#dueUidsAtClose ?? [...this.#duePods.keys()];

  trees(): ReadonlyMap<string, ActorNode> {
    const visiblePods = this.#visiblePods();
    return new Map(
      visiblePods.map(({ pod: { metadata }, shown: actorOrTree }) => [
        metadata.uid,
        this.#displayedTree(metadata.uid, actorOrTree),
      ]),
    );
  }

  tree = (uid: string): ActorNode | undefined => this.byUid(uid)?.tree;

  find(name: string, namespace?: string): PodWithTree | undefined {
    const match = this.#visiblePods().find(({ pod }) => matchesName(pod, name, namespace));
    return match && this.#currentPod(match);
  }

  byUid(uid: string): PodWithTree | undefined {
    const match = this.#visiblePod(uid);
    return match && this.#currentPod(match);
  }

  subscribe(listener: (change: StatusChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#unpublishedAtClose = this.#ledger.awaitingFacts();
    this.#listeners.clear();
    this.#changedPods.clear();
    this.#failedPods.clear();
    this.#dueUidsAtClose = this.dueUids();
    for (const uid of this.#dueUidsAtClose) this.#cancelPostponed(uid);
  }

  /**
   * Schedules the computation of a pod's status after the current turn of the actors. The status of a large pod is
   * delayed further, because each of its container starts would otherwise cause an inspection of all its containers.
   */
  #scheduleStatus(pod: PodRef): void {
    const { uid } = pod.getSnapshot().context.allocated.metadata;
    const delayMs = statusDelayMs(pod);
    const isNew = this.#ledger.computed(uid)?.shown !== pod && this.#adoptedPods.get(uid) !== pod;
    if (delayMs === 0 || isNew) {
      this.#changedPods.add(pod);
      this.#scheduleFlush();
    } else if (this.#duePods.get(uid)?.pod !== pod) {
      this.#postponeStatus(uid, pod, delayMs);
    }
  }

  #postponeStatus(uid: string, pod: PodRef, delayMs: number): void {
    const { clock, delay } = this.#options;
    this.#cancelPostponed(uid);
    const waitMs = Math.max(0, Math.min(delayMs, (this.#lastComputedAt.get(uid) ?? 0) + delayMs - clock.now()));
    const cancelDelay = delay(`pod/${uid}/status`, waitMs, () => {
      this.#duePods.delete(uid);
      this.#changedPods.add(pod);
      this.#flush();
    });
    this.#duePods.set(uid, { pod, cancelTimer: cancelDelay });
  }

  #cancelPostponed(uid: string): void {
    this.#duePods.get(uid)?.cancelTimer();
    this.#duePods.delete(uid);
  }

  #scheduleFlush(): void {
    if (this.#isUpdateScheduled) return;
    this.#isUpdateScheduled = true;
    // A turn of the actors consists of many transitions. Publish their result once, at the end of the turn.
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isUpdateScheduled = false;
    for (const ref of this.#failedPods) this.#changedPods.add(ref);
    this.#failedPods.clear();
    for (const ref of this.#changedPods) {
      this.#changedPods.delete(ref);
      const hasSucceeded = this.#tryRun(() => {
        // Do not drop containers from the status one by one while their actors stop.
        if (ref.getSnapshot().hasTag('stoppingActors')) return;
        if (isBeingAdopted(ref)) this.#noteAdopted(ref);
        else this.#postPod(podView(ref), ref);
      });
      if (!hasSucceeded) this.#failedPods.add(ref);
    }
  }

  #noteAdopted(ref: PodRef): void {
    const { uid } = ref.getSnapshot().context.allocated.metadata;
    this.#adoptedPods.set(uid, ref);
    if (statusDelayMs(ref) > 0) this.#lastComputedAt.set(uid, this.#options.clock.now());
  }

  /** Runs `act` and reports its errors, so that they do not affect other pods or listeners. */
  #tryRun(act: () => void): boolean {
    return tryRun('statuses', act, this.#options.onError);
  }

  #visiblePods(): VisiblePod[] {
    const computedUids = this.#ledger.computedPods().map(({ pod }) => pod.metadata.uid);
    return [...new Set([...computedUids, ...this.#adoptedPods.keys()])].flatMap((uid) => this.#visiblePod(uid) ?? []);
  }

  /**
   * Returns a pod as queries show it. A pod that is being adopted has its last computed status, if any, and the tree of
   * its actor, which shows the progress of the adoption.
   */
  #visiblePod(uid: string): VisiblePod | undefined {
    const [computed, adopted] = [this.#ledger.computed(uid), this.#adoptedPods.get(uid)];
    return computed && adopted ? { ...computed, shown: adopted } : (computed ?? (adopted && visiblePod(adopted)));
  }

  #postPod(view: PodView, shown: ComputedPod['shown']): void {
    const { uid } = view.pod.metadata;
    this.#postFinalState(uid, shown);
    const wasAdopted = this.#adoptedPods.get(uid) === shown;
    this.#adoptedPods.delete(uid);
    const lastComputed = this.#ledger.computed(uid);
    const isRemoved = view.tags.includes('terminated');
    if (isRemoved && lastComputed?.shown !== shown) {
      if (!wasAdopted) return;
      // The pod terminated before its actor's first status was computed, so there is no status to publish.
      this.#cancelPostponed(uid);
      this.#lastComputedAt.delete(uid);
      return;
    }
    const previousStatus = this.#ledger.previousStatus(uid);
    this.#cancelPostponed(uid);
    const usesPreviousStatus = this.#overdueUids.delete(uid) && previousStatus !== undefined && isPodActor(shown);
    const status = usesPreviousStatus ? previousStatus : podStatus(view, this.#statusContext(previousStatus));
    if (isRemoved) this.#lastComputedAt.delete(uid);
    else if (isPodActor(shown) && statusDelayMs(shown) > 0) this.#lastComputedAt.set(uid, this.#options.clock.now());
    const isStatusUnchanged =
      lastComputed !== undefined &&
      isSamePodStatus(previousStatus, status) &&
      hasSamePodObject(lastComputed.view, view);
    const pod = isStatusUnchanged ? lastComputed.pod : withStatus(view, status);
    const computedPod = { shown, pod, view };
    if (isRemoved) this.#ledger.removeComputed(uid);
    else this.#ledger.recordComputed(computedPod);
    if (isRemoved || isPodActor(shown)) this.#awaitedUids.delete(uid);
    else this.#awaitedUids.add(uid);
    if (usesPreviousStatus && !isRemoved) this.#postponeStatus(uid, shown, statusDelayMs(shown));
    this.#publishWhenDurable(computedPod, isRemoved);
  }

  /**
   * Records and publishes the final state of the pod's previous actor. The board might not be notified of this state
   * until the pod's next actor has been spawned, and the two actors share no state.
   */
  #postFinalState(uid: string, next: ComputedPod['shown']): void {
    const currentActor = this.#ledger.computed(uid)?.shown;
    if (currentActor === undefined || currentActor === next || !isPodActor(currentActor)) return;
    const view = podView(currentActor);
    if (view.tags.includes('terminated')) this.#postPod(view, currentActor);
  }

  #statusContext(previous: PodStatus | undefined) {
    const { clock, hostIps, runtimeName, reportsDeviceHealth = true } = this.#options;
    const currentFacts = { now: clock.now(), hostIps: hostIps(), runtimeName: runtimeName(), reportsDeviceHealth };
    return { ...currentFacts, ...(previous ? { previous } : {}) };
  }

  #publishWhenDurable({ shown: actorOrTree, pod, view: podView }: ComputedPod, removed: boolean): void {
    const { uid } = pod.metadata;
    const tree = () => this.#getTree(actorOrTree);
    const hasFailures = isPodActor(actorOrTree) && hasFailureInTree(actorOrTree);
    const change = {
      uid,
      pod,
      view: podView,
      removed,
      hasFailures,
      get tree() {
        return tree();
      },
    };
    this.#ledger.publishWhenDurable(change, {
      persistFacts: () => this.#options.persist?.(change),
      publish: () => this.#publish(change),
    });
  }

  #getTree(shown: ComputedPod['shown']): ActorNode {
    return isPodActor(shown) ? this.#podTrees.getTree(shown) : shown;
  }

  #publish(change: StatusChange): void {
    for (const listener of this.#listeners) this.#tryRun(() => listener(change));
  }

  /**
   * Returns the current state of a pod for queries. Its tree is always current, even after probe attempts, which change
   * the tree but not the status.
   */
  #currentPod({ shown: actorOrTree, pod }: VisiblePod): PodWithTree {
    const { uid } = pod.metadata;
    return {
      pod: this.#duePods.has(uid) ? this.#withDueStatus(pod, actorOrTree) : pod,
      tree: this.#displayedTree(uid, actorOrTree),
    };
  }

  /**
   * Returns the pod with a newly computed status if one is due, because an explanation must not mix two states. This
   * status is not published. The status of a pod that is being adopted is not computed before its containers are known.
   */
  #withDueStatus(pod: Pod, shown: ComputedPod['shown']): Pod {
    if (!isPodActor(shown) || isBeingAdopted(shown)) return pod;
    const view = podView(shown);
    return withStatus(view, podStatus(view, this.#statusContext(pod.status)));
  }

  #displayedTree(uid: string, shown: ComputedPod['shown']): ActorNode {
    const tree = this.#getTree(shown);
    return this.#ledger.isAwaitingFacts(uid) ? { waitingFor: WAITING_FOR_STORE, ...tree } : tree;
  }
}

const WAITING_FOR_STORE = 'its status to be saved';

/** A large pod that has changed. `cancelTimer` cancels the scheduled computation of its status. */
interface DuePod {
  readonly pod: PodRef;
  readonly cancelTimer: () => void;
}

/** A pod with more containers and volumes than this is considered large. */
const MAX_SMALL_POD_PARTS = 20;
/**
 * Maximum delay of the computation of a large pod's status, in milliseconds. It equals the interval at which the
 * kubelet inspects containers.
 */
const MAX_STATUS_DELAY_MS = 1_000;

/**
 * Returns the minimum interval between two computations of a pod's status, in milliseconds: 0 for a small pod, and 1 ms
 * per container and volume of a large one. The status of a pod whose resources have been released is never delayed,
 * because the agent may be about to stop.
 */
function statusDelayMs(pod: PodRef): number {
  const snapshot = pod.getSnapshot();
  if (snapshot.hasTag('reclaimed') || snapshot.status !== 'active') return 0;
  const { spec } = snapshot.context.allocated;
  const partCount = containersOf(spec).length + (spec.volumes ?? []).length;
  return partCount > MAX_SMALL_POD_PARTS ? Math.min(partCount, MAX_STATUS_DELAY_MS) : 0;
}
