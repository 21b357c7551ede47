/** Converts actors and pods to the page's format and computes their changes. */
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { ActorNode, LimiterView } from '../show/actors/actorNode.ts';
import { podUidOf } from '../show/actors/actorPath.ts';
import { podRow } from '../show/tables/table.ts';
import { NODE_KEY } from './live/touched.ts';
import type { ShownActor, ShownGate, ShownPod } from './protocol.ts';

/** The kubelet's annotation for the source of a pod. */
const SOURCE_ANNOTATION = 'kubernetes.io/config.source';

export function toShownPod(pod: Pod, now: number): ShownPod {
  const { uid, namespace, name, annotations = {} } = pod.metadata;
  const { status, ready, restarts } = podRow(pod, now);
  const source = Object.entries(annotations).find(([key]) => key === SOURCE_ANNOTATION)?.[1];
  return {
    uid,
    namespace,
    name,
    status,
    ready,
    restarts: Number.parseInt(restarts, 10),
    isStatic: source !== undefined && source !== 'api',
    phase: pod.status?.phase ?? 'Unknown',
  };
}

/**
 * Caches table rows by pod object. A cached row stays valid as long as the pod object is the same, because rows do not
 * contain the pod's age.
 */
export class PodRowCache {
  readonly #rows = new WeakMap<Pod, ShownPod>();

  rowOf(pod: Pod, now: number): ShownPod {
    const row = this.#rows.get(pod) ?? toShownPod(pod, now);
    this.#rows.set(pod, row);
    return row;
  }
}

export const toShownGate = ({ capacity, held, queue }: LimiterView): ShownGate => ({
  capacity,
  held: held.length,
  waiting: queue.length,
  queue,
});

/** An actor tree and the path of its parent. The root has no parent. */
export interface ShownTree {
  readonly tree: ActorNode;
  readonly parent?: string;
  readonly order: number;
}

/**
 * Sort position of the first pod. It is larger than the number of the node's own actors, so changes to those actors do
 * not renumber the pods.
 */
const FIRST_POD_ORDER = 1_000;

/** Returns the node's own tree, followed by the pods' trees as children of its root. */
export function allTrees(node: ActorNode, pods: ReadonlyMap<string, ActorNode>): ReadonlyMap<string, ShownTree> {
  const podTrees = [...pods].map(([uid, tree], index): [string, ShownTree] => [
    uid,
    { tree, parent: node.path, order: FIRST_POD_ORDER + index },
  ]);
  return new Map([[NODE_KEY, { tree: node, order: 0 }], ...podTrees]);
}

export interface ActorChanges {
  readonly actors: readonly ShownActor[];
  readonly removedPaths: readonly string[];
}

/** Determines which actors have changed since the previous call. */
export class ActorDiffer {
  #trees = new Map<string, ShownTree>();

  /** Compares all trees, each of which has a unique key. Skips a tree that is the same object as before. */
  compareAll(trees: ReadonlyMap<string, ShownTree>): ActorChanges {
    const actors: ShownActor[] = [];
    const removedPaths: string[] = [];
    for (const [key, tree] of trees) compareTrees(this.#trees.get(key), tree, { actors, removedPaths });
    for (const [key, { tree }] of this.#trees) if (!trees.has(key)) removedPaths.push(...pathsOf(tree));
    this.#trees = new Map(trees);
    return { actors, removedPaths };
  }

  /** Compares only the given trees, assuming that all others are unchanged. Returns undefined if one of them is new. */
  compareSome(trees: ReadonlyMap<string, ActorNode>): ActorChanges | undefined {
    const changes: { readonly actors: ShownActor[]; readonly removedPaths: string[] } = {
      actors: [],
      removedPaths: [],
    };
    if (![...trees.keys()].every((key) => this.#trees.has(key))) return undefined;
    for (const [key, previousTree] of this.#trees) {
      const tree = trees.get(key);
      if (tree === undefined) continue;
      const nextTree = { ...previousTree, tree };
      compareTrees(previousTree, nextTree, changes);
      this.#trees.set(key, nextTree);
    }
    return changes;
  }
}

/** Returns all actors of a tree, parents first. */
export function flattenTree(tree: ShownTree): readonly ShownActor[] {
  const actors: ShownActor[] = [];
  compareTrees(undefined, tree, { actors, removedPaths: [] });
  return actors;
}

function compareTrees(
  previousTree: ShownTree | undefined,
  nextTree: ShownTree,
  changes: { readonly actors: ShownActor[]; readonly removedPaths: string[] },
): void {
  const isSamePosition = previousTree?.order === nextTree.order && previousTree.parent === nextTree.parent;
  if (isSamePosition && previousTree.tree === nextTree.tree) return;
  const actor = toShownActor(nextTree);
  if (previousTree === undefined || !isDeepStrictEqual(toShownActor(previousTree), actor)) changes.actors.push(actor);
  const previousChildren = new Map(childrenOf(previousTree).map((child) => [child.tree.path, child]));
  for (const child of childrenOf(nextTree)) {
    compareTrees(previousChildren.get(child.tree.path), child, changes);
    previousChildren.delete(child.tree.path);
  }
  for (const { tree } of previousChildren.values()) changes.removedPaths.push(...pathsOf(tree));
}

const childrenOf = (shown: ShownTree | undefined): ShownTree[] =>
  (shown?.tree.children ?? []).map((tree, order) => ({ tree, parent: shown?.tree.path ?? '', order }));

const pathsOf = (tree: ActorNode): string[] => [tree.path, ...tree.children.flatMap(pathsOf)];

function toShownActor({ tree: { children: _, ...own }, parent, order }: ShownTree): ShownActor {
  return { ...own, ...(parent === undefined ? {} : { parent }), order };
}

/** Returns the UID of the pod that an actor belongs to. Empty for the node's own actors. */
export const podUidOrEmpty = (path: string): string => podUidOf(path) ?? '';
