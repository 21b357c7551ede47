/** The actors, pods and the node as the page shows them, and what of them has changed since it was last told. */
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { ActorNode, LimiterView } from '../show/actorNode.ts';
import { podUidOf } from '../show/actorPath.ts';
import { podRow } from '../show/table.ts';
import type { ShownActor, ShownGate, ShownPod } from './protocol.ts';
import { NODE } from './touched.ts';

/** The kubelet's mark of where a pod comes from. */
const SOURCE = 'kubernetes.io/config.source';

/** A pod as a table shows it. */
export function shownPod(pod: Pod, now: number): ShownPod {
  const { uid, namespace, name, annotations = {} } = pod.metadata;
  const { status, ready, restarts } = podRow(pod, now);
  const source = Object.entries(annotations).find(([key]) => key === SOURCE)?.[1];
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

/** Pods as a table shows them: of one that is the same object nothing has changed but its age, which is not told. */
export class ShownPods {
  readonly #known = new WeakMap<Pod, ShownPod>();

  of(pod: Pod, now: number): ShownPod {
    const known = this.#known.get(pod) ?? shownPod(pod, now);
    this.#known.set(pod, known);
    return known;
  }
}

/** A limiter in numbers. */
export const shownGate = ({ capacity, held, queue }: LimiterView): ShownGate => ({
  capacity,
  held: held.length,
  waiting: queue.length,
  queue,
});

/** A tree of actors, and the path of the actor that it hangs below; the root hangs below none. */
export interface ShownTree {
  readonly tree: ActorNode;
  readonly parent?: string;
  readonly order: number;
}

/** The node's own actors come and go without moving its pods: there are never so many of them. */
const AFTER_OWN = 1_000;

/** The node's own tree, and below its root those of the pods. */
export function treesOf(node: ActorNode, pods: ReadonlyMap<string, ActorNode>): ReadonlyMap<string, ShownTree> {
  const below = [...pods].map(([uid, tree], index): [string, ShownTree] => [
    uid,
    { tree, parent: node.path, order: AFTER_OWN + index },
  ]);
  return new Map([[NODE, { tree: node, order: 0 }], ...below]);
}

/** What of the actors has changed. */
export interface ActorChanges {
  readonly actors: readonly ShownActor[];
  readonly gone: readonly string[];
}

/** Knows what was told of the actors, and finds what is another now. */
export class ShownActors {
  #trees = new Map<string, ShownTree>();

  /** Trees by a key of their own each; one that is the same object as before is not looked into. */
  changes(trees: ReadonlyMap<string, ShownTree>): ActorChanges {
    const actors: ShownActor[] = [];
    const gone: string[] = [];
    for (const [key, tree] of trees) compare(this.#trees.get(key), tree, { actors, gone });
    for (const [key, { tree }] of this.#trees) if (!trees.has(key)) gone.push(...pathsOf(tree));
    this.#trees = new Map(trees);
    return { actors, gone };
  }

  /** What has changed of some trees, where all others are as they were; undefined where one of these was not there before. */
  changesOf(trees: ReadonlyMap<string, ActorNode>): ActorChanges | undefined {
    const found: { readonly actors: ShownActor[]; readonly gone: string[] } = { actors: [], gone: [] };
    if (![...trees.keys()].every((key) => this.#trees.has(key))) return undefined;
    for (const [key, before] of this.#trees) {
      const tree = trees.get(key);
      if (tree === undefined) continue;
      const after = { ...before, tree };
      compare(before, after, found);
      this.#trees.set(key, after);
    }
    return found;
  }
}

/** All actors of a tree. */
export function flattened(tree: ShownTree): readonly ShownActor[] {
  const actors: ShownActor[] = [];
  compare(undefined, tree, { actors, gone: [] });
  return actors;
}

function compare(
  before: ShownTree | undefined,
  after: ShownTree,
  found: { readonly actors: ShownActor[]; readonly gone: string[] },
): void {
  const isSamePlace = before?.order === after.order && before.parent === after.parent;
  if (isSamePlace && before.tree === after.tree) return;
  const shown = shownActor(after);
  if (before === undefined || !isDeepStrictEqual(shownActor(before), shown)) found.actors.push(shown);
  const known = new Map(childrenOf(before).map((child) => [child.tree.path, child]));
  for (const child of childrenOf(after)) {
    compare(known.get(child.tree.path), child, found);
    known.delete(child.tree.path);
  }
  for (const { tree } of known.values()) found.gone.push(...pathsOf(tree));
}

const childrenOf = (shown: ShownTree | undefined): ShownTree[] =>
  (shown?.tree.children ?? []).map((tree, order) => ({ tree, parent: shown?.tree.path ?? '', order }));

const pathsOf = (tree: ActorNode): string[] => [tree.path, ...tree.children.flatMap(pathsOf)];

function shownActor({ tree: { children: _, ...own }, parent, order }: ShownTree): ShownActor {
  return { ...own, ...(parent === undefined ? {} : { parent }), order };
}

/** The UID of the pod that an actor is part of; empty of the node's own. */
export const uidIn = (path: string): string => podUidOf(path) ?? '';
