/** The board of all pods: after each turn of the actors it recomputes the statuses and tells what changed. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { isSamePodStatus, podStatus } from '../../kubernetes/status/status.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import { showsFailure } from '../../machines/shared/actorTree.ts';
import type { SinceOf } from '../../machines/shared/stateMeta.ts';
import { isBeingAdopted, type PodRef, podView, type ShownPod } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import type { PodWithTree } from '../../show/actors/podActors.ts';
import type { Boundary } from '../boundary.ts';
import { done } from '../guarded.ts';
import { isTold, podOf } from './actorsOfPods.ts';
import { heldChanges } from './heldChanges.ts';
import { type PodTrees, podTrees } from './podTrees.ts';
import { byNamespaceAndName, isActor, isAt, isSamePod, type Posted, type Seen, seenOf, withStatus } from './toldPod.ts';

/**
 * A pod after a change of its status or of its actors' states; `removed` when it is gone from the node. The tree is made
 * for who first asks for it, of what the actors are then.
 */
export interface PodChange extends PodWithTree {
  readonly uid: string;
  readonly removed: boolean;
  /** Whether any of its actors shows a failure: without one nobody needs to look at the tree for it. */
  readonly hasFailures: boolean;
}

/** The same, with what the status was computed from. */
export interface StatusChange extends PodChange {
  readonly view: PodView;
}

/**
 * Keeps what a change rests on, before anybody is told of it: its answer holds the change back until it settles, for what
 * is told must not be otherwise after a restart.
 */
export type PersistFacts = (change: StatusChange) => Promise<unknown> | undefined;

export interface StatusBoard {
  /** Says which actor has made a transition. */
  note(ref: AnyActorRef): void;
  /** Reports every pod's status again when the node's addresses have changed. */
  followAddresses(): void;
  /**
   * Posts pods that have no actor yet, by what they wait for; their actors take their places. Those that are not wanted
   * any more before they got one are gone.
   */
  expect(awaited: readonly ShownPod[], isWanted: (uid: string) => boolean): void;
  pods(): readonly Pod[];
  /** The changes that may not be told yet, of each pod in their order; of a board that is closed those that never were. */
  untold(): readonly StatusChange[];
  /** The last status of each pod, by uid, whether it has been told or not: what the next one is computed from. */
  statuses(): ReadonlyMap<string, PodStatus>;
  /** UIDs of the pods that have changed and whose status has yet to be computed. */
  due(): readonly string[];
  /** The trees of the pods' actors, by uid. */
  trees(): ReadonlyMap<string, ActorNode>;
  /** That of one pod. */
  tree(uid: string): ActorNode | undefined;
  /** The pod of a full name; without a namespace, the first of any. */
  find(name: string, namespace?: string): PodWithTree | undefined;
  /** The pod of a UID. */
  of(uid: string): PodWithTree | undefined;
  subscribe(listener: (change: StatusChange) => void): () => void;
  close(): void;
}

export interface StatusBoardOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The node's addresses at present, the primary first. */
  readonly hostIps: () => readonly string[];
  readonly since: SinceOf;
  /** The scheme of container ids. */
  readonly runtimeName: () => string;
  readonly keep?: PersistFacts | undefined;
  /** Told what is thrown for one pod: the others go on without that. */
  readonly onError: (source: string, error: unknown) => void;
  /** The statuses that pods had before the board was made, by uid: what has not changed since keeps its times. */
  readonly known?: Readonly<Record<string, PodStatus>> | undefined;
  /** UIDs of the pods that had changed before the board was created and whose status was yet to be computed. */
  readonly due?: readonly string[] | undefined;
  /** Calls a function after a delay in milliseconds, at the same point in a replay. */
  readonly delay: Boundary['delay'];
}

export const createStatusBoard = (options: StatusBoardOptions): StatusBoard => new Board(options);

class Board implements StatusBoard {
  readonly #options: StatusBoardOptions;
  readonly #posted = new Map<string, Posted>();
  /** Those of them that have no actor yet. */
  readonly #awaited = new Set<string>();
  /** Pods of which nothing is told before their containers are known: what that waits for can be asked. */
  readonly #adopted = new Map<string, PodRef>();
  /** What watchers know: a posted pod comes here once it may be told. */
  readonly #told = new Map<string, Pod>();
  readonly #dirty = new Set<PodRef>();
  /** Those whose status could not be made: each is tried again with the next pod that changes. */
  readonly #failed = new Set<PodRef>();
  /** The statuses of before the board was made. */
  readonly #known: Map<string, PodStatus>;
  readonly #trees: PodTrees;
  readonly #listeners = new Set<(change: StatusChange) => void>();
  readonly #results = new WeakMap<AnyActorRef, string>();
  readonly #held = heldChanges((change: StatusChange) => this.#publish(change));
  /** Those that every status has been told with. */
  #hostIps: readonly string[] | undefined;
  /** The large pods that have changed, by UID. */
  readonly #due = new Map<string, DuePod>();
  /** The time of the last status of each large pod, by UID, in milliseconds since the epoch. */
  readonly #computedAt = new Map<string, number>();
  /** UIDs of the pods whose first status here is the one from before, because the next one was due already. */
  readonly #owed: Set<string>;
  #isScheduled = false;
  #isClosed = false;
  /** What was held back when the board was closed. */
  #neverTold: readonly StatusChange[] | undefined;
  /** UIDs of the pods whose status was due when the board was closed. */
  #neverComputed: readonly string[] | undefined;

  constructor(options: StatusBoardOptions) {
    this.#options = options;
    this.#known = new Map(Object.entries(options.known ?? {}));
    this.#owed = new Set(options.due);
    this.#trees = podTrees(options.since);
  }

  note(ref: AnyActorRef): void {
    if (this.#isClosed) return;
    const pod = podOf(ref);
    // What is left of actors that were stopped says nothing of their pods.
    if (pod === undefined) return;
    this.#trees.note(pod);
    if (isTold(this.#results, ref)) this.#change(pod);
  }

  followAddresses(): void {
    const now = this.#options.hostIps();
    if (this.#isClosed || now === this.#hostIps) return;
    this.#hostIps = now;
    for (const { shown } of this.#posted.values()) if (isActor(shown)) this.#change(shown);
  }

  expect(awaited: readonly ShownPod[], isWanted: (uid: string) => boolean): void {
    for (const uid of this.#awaited) {
      const posted = isWanted(uid) ? undefined : this.#posted.get(uid);
      if (posted === undefined) continue;
      this.#awaited.delete(uid);
      this.#posted.delete(uid);
      this.#tell(posted, true);
    }
    for (const { view, tree } of awaited) {
      const known = this.#posted.get(view.pod.metadata.uid)?.shown;
      if (known === undefined || (!isActor(known) && known.waitingFor !== tree.waitingFor))
        this.#guarded(() => this.#post(view, tree));
    }
  }

  pods(): readonly Pod[] {
    return [...this.#told.values()].sort(byNamespaceAndName);
  }

  untold = (): readonly StatusChange[] => this.#neverTold ?? this.#held.all();

  statuses(): ReadonlyMap<string, PodStatus> {
    const known = [...this.#posted].map(([uid, { pod }]) => [uid, pod.status] as const);
    return new Map(known.flatMap(([uid, status]) => (status ? [[uid, status]] : [])));
  }

  due = (): readonly string[] => this.#neverComputed ?? [...this.#due.keys()];

  trees(): ReadonlyMap<string, ActorNode> {
    const seen = this.#seen();
    return new Map(seen.map(({ pod: { metadata }, shown }) => [metadata.uid, this.#shownTree(metadata.uid, shown)]));
  }

  tree = (uid: string): ActorNode | undefined => this.of(uid)?.tree;

  find(name: string, namespace?: string): PodWithTree | undefined {
    const found = this.#seen().find(({ pod }) => isAt(pod, name, namespace));
    return found && this.#present(found);
  }

  of(uid: string): PodWithTree | undefined {
    const found = this.#seenOf(uid);
    return found && this.#present(found);
  }

  subscribe(listener: (change: StatusChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#neverTold = this.#held.all();
    this.#listeners.clear();
    this.#dirty.clear();
    this.#failed.clear();
    this.#neverComputed = this.due();
    for (const uid of this.#neverComputed) this.#cancelDue(uid);
  }

  /**
   * The status of a pod is computed once the present turn of the actors is over. A large pod waits longer, because every
   * status is a look at all its containers: while they start, that would be as many looks as there are containers.
   */
  #change(pod: PodRef): void {
    const { uid } = pod.getSnapshot().context.allocated.metadata;
    const delayMs = statusDelayMs(pod);
    if (delayMs === 0 || this.#posted.get(uid)?.shown !== pod) {
      this.#dirty.add(pod);
      this.#schedule();
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

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // One turn of the actors is many transitions: what they come to is told once, when it is over.
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    for (const ref of this.#failed) this.#dirty.add(ref);
    this.#failed.clear();
    for (const ref of this.#dirty) {
      this.#dirty.delete(ref);
      const isDone = this.#guarded(() => {
        // Its status does not lose the containers one by one while their actors stop.
        if (ref.getSnapshot().hasTag('stoppingActors')) return;
        const view = podView(ref);
        if (isBeingAdopted(ref)) this.#adopted.set(view.pod.metadata.uid, ref);
        else this.#post(view, ref);
      });
      if (!isDone) this.#failed.add(ref);
    }
  }

  /** What is thrown for one pod, or by one listener, is not for the others to bear. */
  #guarded(act: () => void): boolean {
    return done('statuses', act, this.#options.onError);
  }

  #seen(): Seen[] {
    return [...new Set([...this.#posted.keys(), ...this.#adopted.keys()])].flatMap((uid) => this.#seenOf(uid) ?? []);
  }

  /** Of one that is being adopted all that was told is still so, but what goes on its actor shows. */
  #seenOf(uid: string): Seen | undefined {
    const [posted, adopted] = [this.#posted.get(uid), this.#adopted.get(uid)];
    return posted && adopted ? { ...posted, shown: adopted } : (posted ?? (adopted && seenOf(adopted)));
  }

  #post(view: PodView, shown: Posted['shown']): void {
    const { uid } = view.pod.metadata;
    this.#postEnd(uid, shown);
    this.#adopted.delete(uid);
    const known = this.#posted.get(uid);
    const removed = view.tags.includes('terminated');
    if (removed && known?.shown !== shown) return;
    const previous = known?.pod.status ?? this.#known.get(uid);
    this.#cancelDue(uid);
    const isOwed = this.#owed.delete(uid) && previous !== undefined && isActor(shown);
    const status = isOwed ? previous : podStatus(view, this.#statusContext(previous));
    if (removed) this.#computedAt.delete(uid);
    else if (isActor(shown) && statusDelayMs(shown) > 0) this.#computedAt.set(uid, this.#options.clock.now());
    const same = known !== undefined && isSamePodStatus(previous, status) && isSamePod(known.view, view);
    const pod = same ? known.pod : withStatus(view, status);
    const posted = { shown, pod, view };
    if (removed) for (const kept of [this.#posted, this.#known]) kept.delete(uid);
    else this.#posted.set(uid, posted);
    if (removed || isActor(shown)) this.#awaited.delete(uid);
    else this.#awaited.add(uid);
    if (isOwed && !removed) this.#postpone(uid, shown, statusDelayMs(shown));
    this.#tell(posted, removed);
  }

  /** Of an actor that has ended the board may hear only after another was begun in its place, which shares nothing with it. */
  #postEnd(uid: string, next: Posted['shown']): void {
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

  #tell({ shown, pod, view }: Posted, removed: boolean): void {
    const { uid } = pod.metadata;
    const tree = () => this.#treeOf(shown);
    const hasFailures = isActor(shown) && showsFailure(shown);
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
    this.#held.tell(change, this.#options.keep?.(change));
  }

  #treeOf(shown: Posted['shown']): ActorNode {
    return isActor(shown) ? this.#trees.of(shown) : shown;
  }

  #publish(change: StatusChange): void {
    if (change.removed) this.#told.delete(change.uid);
    else this.#told.set(change.uid, change.pod);
    for (const listener of this.#listeners) this.#guarded(() => listener(change));
  }

  /** What a pod shows at present, whose probes go on without a change of status as long as their results are the same. */
  #present({ shown, pod }: Seen): PodWithTree {
    const { uid } = pod.metadata;
    return { pod: this.#due.has(uid) ? this.#upToDate(pod, shown) : pod, tree: this.#shownTree(uid, shown) };
  }

  /** The pod with the status that is due, so that its explanation does not mix two states. Nobody else gets that status. */
  #upToDate(pod: Pod, shown: Posted['shown']): Pod {
    if (!isActor(shown)) return pod;
    const view = podView(shown);
    return withStatus(view, podStatus(view, this.#statusContext(pod.status)));
  }

  #shownTree(uid: string, shown: Posted['shown']): ActorNode {
    const tree = this.#treeOf(shown);
    return this.#held.isHeld(uid) ? { waitingFor: UNTOLD, ...tree } : tree;
  }
}

const UNTOLD = 'its status to be saved';

/** A large pod that has changed. `cancel` withdraws the computation of its status. */
interface DuePod {
  readonly pod: PodRef;
  readonly cancel: () => void;
}

/** A pod with more containers and volumes than this counts as large. */
const LARGE = 20;
/** Longest interval between two statuses of a large pod, in milliseconds. A kubelet looks at containers once a second. */
const MAX_INTERVAL_MS = 1_000;

/**
 * The interval between two statuses of a pod, in milliseconds: 0 for a small pod, and 1 ms for each part of a large one.
 * What is left of a pod that has given back everything is never deferred, as its agent may be about to stop.
 */
function statusDelayMs(pod: PodRef): number {
  const snapshot = pod.getSnapshot();
  if (snapshot.hasTag('reclaimed') || snapshot.status !== 'active') return 0;
  const { spec } = snapshot.context.allocated;
  const parts = containersOf(spec).length + (spec.volumes ?? []).length;
  return parts > LARGE ? Math.min(parts, MAX_INTERVAL_MS) : 0;
}
