/** Computes the pod statuses after each turn of the actors and publishes changed ones. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { isSamePodStatus, podStatus } from '../../kubernetes/status/status.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import { hasFailureInTree } from '../../machines/shared/actorTree.ts';
import type { SinceOf } from '../../machines/shared/stateMeta.ts';
import { isBeingAdopted, type PodRef, podView, type ShownPod } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import type { PodWithTree } from '../../show/actors/podActors.ts';
import type { Boundary } from '../boundary.ts';
import { tryRun } from '../withErrorHandler.ts';
import { createChangeQueue } from './changeQueue.ts';
import { affectsStatus, podOfActor } from './podOfActor.ts';
import { createPodTrees, type PodTrees } from './podTrees.ts';
import {
  byNamespaceAndName,
  hasName,
  isActor,
  isSamePod,
  type Posted,
  type VisiblePod,
  visiblePod,
  withStatus,
} from './postedPod.ts';

/**
 * A change of a pod's status or of its actors' states. `removed` is set when the pod has left the node. The tree is
 * computed on first access, from the actors' states at that time.
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
   * Posts pods that have no actor yet, with the reason for their wait. Removes previously posted pods that are no
   * longer wanted. A pod's actor later replaces its posted entry.
   */
  setAwaited(awaited: readonly ShownPod[], isWanted: (uid: string) => boolean): void;
  pods(): readonly Pod[];
  /**
   * Returns the changes that wait to become durable, in order for each pod. After `close`, returns the changes that
   * were never published.
   */
  unpublished(): readonly StatusChange[];
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
  readonly since: SinceOf;
  /** The scheme of container IDs, e.g. `containerd`. */
  readonly runtimeName: () => string;
  readonly persist?: PersistFacts | undefined;
  /** Called with errors that concern a single pod. Other pods are not affected. */
  readonly onError: (source: string, error: unknown) => void;
  /**
   * Statuses by UID from before the board was created. Conditions that have not changed since then retain their
   * timestamps.
   */
  readonly previousStatuses?: Readonly<Record<string, PodStatus>> | undefined;
  /** UIDs of the pods that had changed before the board was created and whose status was yet to be computed. */
  readonly due?: readonly string[] | undefined;
  /** Calls a function after a delay in milliseconds, at the same point in a replay. */
  readonly delay: Boundary['delay'];
}

export const createStatusBoard = (options: StatusBoardOptions): StatusBoard => new Board(options);

class Board implements StatusBoard {
  readonly #options: StatusBoardOptions;
  readonly #posted = new Map<string, Posted>();
  /** UIDs of the posted pods that have no actor yet. */
  readonly #awaited = new Set<string>();
  /**
   * Pods that are being adopted, i.e. whose containers are not known yet. Their status is not published, but queries
   * return the reason for their wait.
   */
  readonly #adopted = new Map<string, PodRef>();
  /** The pods as last sent to listeners. A posted pod is added once it may be published. */
  readonly #published = new Map<string, Pod>();
  readonly #dirty = new Set<PodRef>();
  /** Pods whose status could not be computed. The computation is retried when the next pod changes. */
  readonly #failed = new Set<PodRef>();
  readonly #previousStatuses: Map<string, PodStatus>;
  readonly #trees: PodTrees;
  readonly #listeners = new Set<(change: StatusChange) => void>();
  readonly #results = new WeakMap<AnyActorRef, string>();
  readonly #unpublished = createChangeQueue((change: StatusChange) => this.#publish(change));
  /** The addresses that the current statuses contain. */
  #hostIps: readonly string[] | undefined;
  /** The large pods that have changed, by UID. */
  readonly #due = new Map<string, DuePod>();
  /** The time of the last status of each large pod, by UID, in milliseconds since the epoch. */
  readonly #computedAt = new Map<string, number>();
  /**
   * UIDs of the pods that start with their previous status, because the next status was already due before the board
   * was created.
   */
  readonly #owed: Set<string>;
  #isScheduled = false;
  #isClosed = false;
  /** The changes that were still waiting when the board was closed. */
  #unpublishedAtClose: readonly StatusChange[] | undefined;
  /** UIDs of the pods whose status was due when the board was closed. */
  #dueAtClose: readonly string[] | undefined;

  constructor(options: StatusBoardOptions) {
    this.#options = options;
    this.#previousStatuses = new Map(Object.entries(options.previousStatuses ?? {}));
    this.#owed = new Set(options.due);
    this.#trees = createPodTrees(options.since);
  }

  noteTransition(ref: AnyActorRef): void {
    if (this.#isClosed) return;
    const pod = podOfActor(ref);
    // Stopped actors without a pod can still send notifications.
    if (pod === undefined) return;
    this.#trees.invalidate(pod);
    if (affectsStatus(this.#results, ref)) this.#scheduleStatus(pod);
  }

  refreshAddresses(): void {
    const now = this.#options.hostIps();
    if (this.#isClosed || now === this.#hostIps) return;
    this.#hostIps = now;
    for (const { shown } of this.#posted.values()) if (isActor(shown)) this.#scheduleStatus(shown);
  }

  setAwaited(awaited: readonly ShownPod[], isWanted: (uid: string) => boolean): void {
    for (const uid of this.#awaited) {
      const posted = isWanted(uid) ? undefined : this.#posted.get(uid);
      if (posted === undefined) continue;
      this.#awaited.delete(uid);
      this.#posted.delete(uid);
      this.#enqueue(posted, true);
    }
    for (const { view, tree } of awaited) {
      const shown = this.#posted.get(view.pod.metadata.uid)?.shown;
      if (shown === undefined || (!isActor(shown) && shown.waitingFor !== tree.waitingFor))
        this.#tryRun(() => this.#post(view, tree));
    }
  }

  pods(): readonly Pod[] {
    return [...this.#published.values()].sort(byNamespaceAndName);
  }

  unpublished = (): readonly StatusChange[] => this.#unpublishedAtClose ?? this.#unpublished.pending();

  statuses(): ReadonlyMap<string, PodStatus> {
    const entries = [...this.#posted].map(([uid, { pod }]) => [uid, pod.status] as const);
    return new Map(entries.flatMap(([uid, status]) => (status ? [[uid, status]] : [])));
  }

  dueUids = (): readonly string[] => this.#dueAtClose ?? [...this.#due.keys()];

  trees(): ReadonlyMap<string, ActorNode> {
    const visible = this.#visiblePods();
    return new Map(visible.map(({ pod: { metadata }, shown }) => [metadata.uid, this.#shownTree(metadata.uid, shown)]));
  }

  tree = (uid: string): ActorNode | undefined => this.byUid(uid)?.tree;

  find(name: string, namespace?: string): PodWithTree | undefined {
    const posted = this.#visiblePods().find(({ pod }) => hasName(pod, name, namespace));
    return posted && this.#currentPod(posted);
  }

  byUid(uid: string): PodWithTree | undefined {
    const posted = this.#visiblePod(uid);
    return posted && this.#currentPod(posted);
  }

  subscribe(listener: (change: StatusChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#unpublishedAtClose = this.#unpublished.pending();
    this.#listeners.clear();
    this.#dirty.clear();
    this.#failed.clear();
    this.#dueAtClose = this.dueUids();
    for (const uid of this.#dueAtClose) this.#cancelDue(uid);
  }

  /**
   * Schedules the computation of a pod's status after the current turn of the actors. The status of a large pod is
   * delayed further, because computing it inspects all containers, and their starts cause as many changes as there are
   * containers.
   */
  #scheduleStatus(pod: PodRef): void {
    const { uid } = pod.getSnapshot().context.allocated.metadata;
    const delayMs = statusDelayMs(pod);
    if (delayMs === 0 || this.#posted.get(uid)?.shown !== pod) {
      this.#dirty.add(pod);
      this.#scheduleFlush();
    } else if (this.#due.get(uid)?.pod !== pod) {
      this.#postpone(uid, pod, delayMs);
    }
  }

  #postpone(uid: string, pod: PodRef, delayMs: number): void {
    const { clock, delay } = this.#options;
    this.#cancelDue(uid);
    const waitMs = Math.max(0, Math.min(delayMs, (this.#computedAt.get(uid) ?? 0) + delayMs - clock.now()));
    const cancel = delay(`pod/${uid}/status`, waitMs, () => {
      this.#due.delete(uid);
      this.#dirty.add(pod);
      this.#flush();
    });
    this.#due.set(uid, { pod, cancel });
  }

  #cancelDue(uid: string): void {
    this.#due.get(uid)?.cancel();
    this.#due.delete(uid);
  }

  #scheduleFlush(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A turn of the actors consists of many transitions. Publish their result once, at the end of the turn.
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    for (const ref of this.#failed) this.#dirty.add(ref);
    this.#failed.clear();
    for (const ref of this.#dirty) {
      this.#dirty.delete(ref);
      const isDone = this.#tryRun(() => {
        // Do not drop containers from the status one by one while their actors stop.
        if (ref.getSnapshot().hasTag('stoppingActors')) return;
        const view = podView(ref);
        if (isBeingAdopted(ref)) this.#adopted.set(view.pod.metadata.uid, ref);
        else this.#post(view, ref);
      });
      if (!isDone) this.#failed.add(ref);
    }
  }

  /** Isolates errors of one pod or listener from the others. */
  #tryRun(act: () => void): boolean {
    return tryRun('statuses', act, this.#options.onError);
  }

  #visiblePods(): VisiblePod[] {
    return [...new Set([...this.#posted.keys(), ...this.#adopted.keys()])].flatMap(
      (uid) => this.#visiblePod(uid) ?? [],
    );
  }

  /**
   * Returns the last published status of a pod that is being adopted, with its actor, whose tree contains the
   * adoption's progress.
   */
  #visiblePod(uid: string): VisiblePod | undefined {
    const [posted, adopted] = [this.#posted.get(uid), this.#adopted.get(uid)];
    return posted && adopted ? { ...posted, shown: adopted } : (posted ?? (adopted && visiblePod(adopted)));
  }

  #post(view: PodView, shown: Posted['shown']): void {
    const { uid } = view.pod.metadata;
    this.#postFinalState(uid, shown);
    this.#adopted.delete(uid);
    const lastPosted = this.#posted.get(uid);
    const removed = view.tags.includes('terminated');
    if (removed && lastPosted?.shown !== shown) return;
    const previous = lastPosted?.pod.status ?? this.#previousStatuses.get(uid);
    this.#cancelDue(uid);
    const isOwed = this.#owed.delete(uid) && previous !== undefined && isActor(shown);
    const status = isOwed ? previous : podStatus(view, this.#statusContext(previous));
    if (removed) this.#computedAt.delete(uid);
    else if (isActor(shown) && statusDelayMs(shown) > 0) this.#computedAt.set(uid, this.#options.clock.now());
    const isUnchanged =
      lastPosted !== undefined && isSamePodStatus(previous, status) && isSamePod(lastPosted.view, view);
    const pod = isUnchanged ? lastPosted.pod : withStatus(view, status);
    const posted = { shown, pod, view };
    if (removed) for (const map of [this.#posted, this.#previousStatuses]) map.delete(uid);
    else this.#posted.set(uid, posted);
    if (removed || isActor(shown)) this.#awaited.delete(uid);
    else this.#awaited.add(uid);
    if (isOwed && !removed) this.#postpone(uid, shown, statusDelayMs(shown));
    this.#enqueue(posted, removed);
  }

  /**
   * Posts the final state of the previous actor of the pod. The board may only be notified of this state after the next
   * actor of the pod, which shares no state with the previous one, has been spawned.
   */
  #postFinalState(uid: string, next: Posted['shown']): void {
    const shown = this.#posted.get(uid)?.shown;
    if (shown === undefined || shown === next || !isActor(shown)) return;
    const view = podView(shown);
    if (view.tags.includes('terminated')) this.#post(view, shown);
  }

  #statusContext(previous: PodStatus | undefined) {
    const { clock, hostIps, runtimeName } = this.#options;
    const now = { now: clock.now(), hostIps: hostIps(), runtimeName: runtimeName() };
    return { ...now, ...(previous ? { previous } : {}) };
  }

  #enqueue({ shown, pod, view }: Posted, removed: boolean): void {
    const { uid } = pod.metadata;
    const tree = () => this.#treeOf(shown);
    const hasFailures = isActor(shown) && hasFailureInTree(shown);
    const change = {
      uid,
      pod,
      view,
      removed,
      hasFailures,
      get tree() {
        return tree();
      },
    };
    this.#unpublished.push(change, this.#options.persist?.(change));
  }

  #treeOf(shown: Posted['shown']): ActorNode {
    return isActor(shown) ? this.#trees.treeOf(shown) : shown;
  }

  #publish(change: StatusChange): void {
    if (change.removed) this.#published.delete(change.uid);
    else this.#published.set(change.uid, change.pod);
    for (const listener of this.#listeners) this.#tryRun(() => listener(change));
  }

  /**
   * Returns the current state of a pod for queries. Its tree is always current, because probes run without changing the
   * status.
   */
  #currentPod({ shown, pod }: VisiblePod): PodWithTree {
    const { uid } = pod.metadata;
    return { pod: this.#due.has(uid) ? this.#withDueStatus(pod, shown) : pod, tree: this.#shownTree(uid, shown) };
  }

  /**
   * Returns the pod with a newly computed status if one is due, because an explanation must not mix two states. This
   * status is not published.
   */
  #withDueStatus(pod: Pod, shown: Posted['shown']): Pod {
    if (!isActor(shown)) return pod;
    const view = podView(shown);
    return withStatus(view, podStatus(view, this.#statusContext(pod.status)));
  }

  #shownTree(uid: string, shown: Posted['shown']): ActorNode {
    const tree = this.#treeOf(shown);
    return this.#unpublished.isQueued(uid) ? { waitingFor: WAITING_FOR_STORE, ...tree } : tree;
  }
}

const WAITING_FOR_STORE = 'its status to be saved';

/** A large pod that has changed. `cancel` withdraws the computation of its status. */
interface DuePod {
  readonly pod: PodRef;
  readonly cancel: () => void;
}

/** A pod with more containers and volumes than this counts as large. */
const MIN_LARGE_POD_PARTS = 20;
/**
 * Maximum interval between two statuses of a large pod, in milliseconds. The kubelet also inspects containers once a
 * second.
 */
const MAX_INTERVAL_MS = 1_000;

/**
 * Returns the interval between two statuses of a pod, in milliseconds: 0 for a small pod, and 1 ms per container and
 * volume of a large one. The status of a reclaimed pod is never deferred, because the agent may be about to stop.
 */
function statusDelayMs(pod: PodRef): number {
  const snapshot = pod.getSnapshot();
  if (snapshot.hasTag('reclaimed') || snapshot.status !== 'active') return 0;
  const { spec } = snapshot.context.allocated;
  const parts = containersOf(spec).length + (spec.volumes ?? []).length;
  return parts > MIN_LARGE_POD_PARTS ? Math.min(parts, MAX_INTERVAL_MS) : 0;
}
