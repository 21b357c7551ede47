/**
 * All actors of a node as the rows of one tree: the node agent first, then its pods, the worst first. What a row says is
 * made when it is looked at: there may be thousands.
 */

import { shownName, withoutNode } from '../kubernetes/shownName.ts';
import type { ActorFilter } from './actorFilter.ts';
import { type ActorNode, CALL } from './actorNode.ts';
import { byWorst, type Category, categoryOf } from './category.ts';
import { kindText, type PlaceOf } from './explainText.ts';

/** A pod in the tree of actors, whoever knows it: this process, or a page by what it was told. */
export interface RowPod {
  /** With the actors below it, as they are shown. */
  readonly tree: ActorNode;
  readonly uid: string;
  readonly namespace: string;
  /** The full one. */
  readonly name: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly beganAt: number;
  /** kubectl's words for it, at a moment. */
  readonly columns: (now: number) => { readonly status: string; readonly ready: string };
  /** The word of Kubernetes for what keeps the container with this actor; absent where its state says more. */
  readonly wordOf: (path: string) => string | undefined;
  /** Where its container, or without one the pod itself, stands in line. */
  readonly placeOf: PlaceOf;
}

/** All actors of a node at a moment, whoever knows them: this process, or a page by what it was told. */
export interface SeenTree {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The node agent with the actors that serve all pods; its name is the node's. */
  readonly node: ActorNode;
  readonly pods: readonly RowPod[];
}

/** The orders of the pods; in each the names decide between equals. */
export const ROW_ORDERS = ['worst', 'name', 'age', 'changed'] as const;

export type RowOrder = (typeof ROW_ORDERS)[number];

/** Which rows are wanted, in which order. */
export interface RowsView {
  /** Whether the actors below that of this path are shown. */
  readonly isOpen: (path: string) => boolean;
  readonly matches?: ActorFilter | undefined;
  readonly order?: RowOrder | undefined;
  readonly reversed?: boolean | undefined;
  /** Paths of pods as they stand: they keep their order, and new ones come last. */
  readonly held?: readonly string[] | undefined;
}

/** One actor in the tree. */
export interface ActorRow {
  /** Of the actor; that of the node agent is empty. */
  readonly path: string;
  readonly depth: number;
  /** Its own; of a closed row the worst of it and all below it. */
  readonly category: Category;
  /** In words: `pod`, `init container`, `limiter`. */
  readonly kind: string;
  /** A pod's is without its node, and with its namespace where that is not `default`. */
  readonly name: string;
  /** Absent where there is nothing below it. */
  readonly isOpen?: boolean;
  /** Whether it was looked for itself, and is not only above one that was. */
  readonly isMatch: boolean;
  readonly actor: ActorNode;
  /** The actor that it tells of: itself or, closed, the worst below it. */
  readonly told: ActorNode;
  /** Its pod, where it has one. */
  readonly of?: RowPod;
}

const shownChildren = ({ children }: ActorNode): readonly ActorNode[] => children.filter(({ kind }) => kind !== CALL);

/** The worst of an actor and all below it; of equals the nearest. Calls are part of who has made them. */
export function worstOf(actor: ActorNode): ActorNode {
  return shownChildren(actor)
    .map(worstOf)
    .reduce((worst, each) => (byWorst(categoryOf(each), categoryOf(worst)) < 0 ? each : worst), actor);
}

/** How many there are of each. */
export interface Count {
  readonly pods: number;
  readonly actors: number;
}

/** How many pods there are, and how many rows the tree has when all of it is open. */
export function treeCount({ node, pods }: SeenTree): Count {
  const below = (actor: ActorNode): number => shownChildren(actor).reduce((sum, child) => sum + below(child), 1);
  const trees = [node, ...pods.map(({ tree }) => tree)];
  return { pods: pods.length, actors: trees.reduce((sum, tree) => sum + below(tree), 0) };
}

/** A pod with what it is put in order by. */
interface Ordered {
  readonly pod: RowPod;
  readonly worst: Category;
  readonly name: string;
}

/** The latest change of an actor or one below it. */
const changedAt = (actor: ActorNode): number => Math.max(actor.since, ...shownChildren(actor).map(changedAt));

const COMPARISONS: Readonly<Record<RowOrder, (a: Ordered, b: Ordered) => number>> = {
  worst: (a, b) => byWorst(a.worst, b.worst),
  name: () => 0,
  age: (a, b) => b.pod.beganAt - a.pod.beganAt,
  changed: (a, b) => changedAt(b.pod.tree) - changedAt(a.pod.tree),
};

function inOrder(pods: readonly RowPod[], node: string, { order = 'worst', reversed, held = [] }: RowsView): Ordered[] {
  const named = pods.map((pod) => ({
    pod,
    worst: categoryOf(worstOf(pod.tree)),
    name: shownName({ ...pod, name: withoutNode(pod.name, node) }),
  }));
  const compare = COMPARISONS[order];
  const sorted = named.toSorted((a, b) => compare(a, b) || (a.name < b.name ? -1 : 1));
  if (reversed) sorted.reverse();
  const places = new Map(held.map((path, index) => [path, index]));
  const placeOf = ({ pod }: Ordered) => places.get(pod.tree.path) ?? held.length;
  return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The rows to be shown, in their order. What is above an actor that was looked for is shown, and open, too. */
export function treeRows({ at: now, node, pods }: SeenTree, view: RowsView): ActorRow[] {
  const rows = rowsOf(node, { depth: 0, name: node.name, now, view });
  for (const { pod, name } of inOrder(pods, node.name, view)) {
    rows.push(...rowsOf(pod.tree, { depth: 0, name, now, view, of: pod }));
  }
  return rows;
}

interface RowPlace {
  readonly depth: number;
  readonly name: string;
  readonly now: number;
  readonly view: RowsView;
  readonly of?: RowPod;
}

/** The row of an actor and those below it; none where neither it nor one below it was looked for. */
function rowsOf(actor: ActorNode, { depth, name, now, view, of }: RowPlace): ActorRow[] {
  const { namespace, name: podName } = of ?? {};
  const isMatch = view.matches?.({ node: actor, namespace, podName, now }) ?? true;
  const children = shownChildren(actor);
  const isOpen = view.isOpen(actor.path);
  const place = { depth: depth + 1, now, view, ...(of ? { of } : {}) };
  const isSearched = isOpen || !isMatch;
  const below = isSearched ? children.flatMap((child) => rowsOf(child, { ...place, name: child.name })) : [];
  if (!isMatch && below.length === 0) return [];
  const told = below.length > 0 ? actor : worstOf(actor);
  const row = {
    path: actor.path,
    depth,
    category: categoryOf(told),
    name,
    isMatch,
    actor,
    told,
    kind: kindText(actor.kind),
    ...(children.length > 0 ? { isOpen: isOpen || below.length > 0 } : {}),
    ...(of ? { of } : {}),
  };
  return [row, ...below];
}
