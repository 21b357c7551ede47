/**
 * Builds the rows of the actor tree. The node agent comes first, followed by the pods, by default with the most severe
 * states first. The text of a row is computed only when the row is displayed, because there may be thousands of rows.
 */

import { displayName, withoutNodeSuffix } from '../../kubernetes/shownName.ts';
import { type Category, categoryOf, compareSeverity } from '../category.ts';
import { kindText, type QueueLookup } from '../explain/explainText.ts';
import type { ActorFilter } from './actorFilter.ts';
import { type ActorNode, CALL_KIND } from './actorNode.ts';

/** A pod in the tree of actors, either from this process or from data sent to the page. */
export interface RowPod {
  /** The pod's actor with its descendants. */
  readonly tree: ActorNode;
  readonly uid: string;
  readonly namespace: string;
  /** Full name of the pod as in its metadata. */
  readonly name: string;
  /** Creation time in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Returns the cells of kubectl's STATUS and READY columns at the given time. */
  readonly statusColumns: (now: number) => { readonly status: string; readonly ready: string };
  /**
   * Returns the Kubernetes reason for the state of the container at the given actor path. Undefined if the actor's
   * state is more informative.
   */
  readonly containerReasonAt: (path: string) => string | undefined;
  /** Returns the queue position of the named container or, if no name is passed, of the pod itself. */
  readonly queuePositionOf: QueueLookup;
}

/** All actors of a node at one point in time, either from this process or from data sent to the page. */
export interface ActorTrees {
  /** Time of the snapshot in milliseconds since the epoch. */
  readonly at: number;
  /** The node agent with the actors that serve all pods. Its name is the name of the node. */
  readonly node: ActorNode;
  readonly pods: readonly RowPod[];
}

/** Sort orders of the pods. Ties are broken by name. */
export const ROW_ORDERS = ['worst', 'name', 'age', 'changed'] as const;

export type RowOrder = (typeof ROW_ORDERS)[number];

/** Selection and order of the rows. */
export interface RowSelection {
  /** Whether the actor at the given path is expanded. */
  readonly isOpen: (path: string) => boolean;
  readonly matches?: ActorFilter | undefined;
  readonly order?: RowOrder | undefined;
  readonly isReversed?: boolean | undefined;
  /** Paths of pods that retain their current order. New pods are appended. */
  readonly retainedOrder?: readonly string[] | undefined;
}

/** A row of the actor tree. */
export interface ActorRow {
  /** Path of the actor. Empty for the node agent. */
  readonly path: string;
  readonly depth: number;
  /** The category of the actor. For a collapsed row, the most severe category among the actor and its descendants. */
  readonly category: Category;
  /** The kind in words, e.g. `pod`, `init container` or `limiter`. */
  readonly kind: string;
  /** For a pod, the name without the node suffix, and with the namespace unless that is `default`. */
  readonly name: string;
  /** Undefined if the actor has no children. */
  readonly isExpanded?: boolean;
  /** Whether the actor itself matches the filter. False for an ancestor of a match. */
  readonly isMatch: boolean;
  readonly actor: ActorNode;
  /**
   * The actor that the row describes: the actor itself or, in a collapsed row, its descendant with the most severe
   * state.
   */
  readonly subject: ActorNode;
  /** The pod that contains the actor. Undefined for actors of the node. */
  readonly pod?: RowPod;
}

const visibleChildren = ({ children }: ActorNode): readonly ActorNode[] =>
  children.filter(({ kind }) => kind !== CALL_KIND);

/**
 * Returns the actor with the most severe category among an actor and its descendants. An ancestor wins a tie with its
 * descendants. Calls in flight are ignored.
 */
export function mostSevereActor(actor: ActorNode): ActorNode {
  return visibleChildren(actor)
    .map(mostSevereActor)
    .reduce((worst, each) => (compareSeverity(categoryOf(each), categoryOf(worst)) < 0 ? each : worst), actor);
}

export interface TreeCount {
  readonly pods: number;
  readonly actors: number;
}

/** Returns the number of pods and the number of rows of the fully expanded tree. */
export function countTree({ node, pods }: ActorTrees): TreeCount {
  const countRows = (actor: ActorNode): number =>
    visibleChildren(actor).reduce((sum, child) => sum + countRows(child), 1);
  const trees = [node, ...pods.map(({ tree }) => tree)];
  return { pods: pods.length, actors: trees.reduce((sum, tree) => sum + countRows(tree), 0) };
}

/** A pod with its sort keys. */
interface SortablePod {
  readonly pod: RowPod;
  readonly worstCategory: Category;
  readonly name: string;
}

/** Returns the time of the latest state change of an actor or any of its descendants. */
const lastChangedAt = (actor: ActorNode): number => Math.max(actor.since, ...visibleChildren(actor).map(lastChangedAt));

const COMPARATORS: Readonly<Record<RowOrder, (a: SortablePod, b: SortablePod) => number>> = {
  worst: (a, b) => compareSeverity(a.worstCategory, b.worstCategory),
  name: () => 0,
  age: (a, b) => b.pod.createdAt - a.pod.createdAt,
  changed: (a, b) => lastChangedAt(b.pod.tree) - lastChangedAt(a.pod.tree),
};

function sortPods(
  pods: readonly RowPod[],
  node: string,
  { order = 'worst', isReversed, retainedOrder = [] }: RowSelection,
): SortablePod[] {
  const sortablePods = pods.map((pod) => ({
    pod,
    worstCategory: categoryOf(mostSevereActor(pod.tree)),
    name: displayName({ ...pod, name: withoutNodeSuffix(pod.name, node) }),
  }));
  const compare = COMPARATORS[order];
  const sortedPods = sortablePods.toSorted((a, b) => compare(a, b) || (a.name < b.name ? -1 : 1));
  if (isReversed) sortedPods.reverse();
  const retainedIndexes = new Map(retainedOrder.map((path, index) => [path, index]));
  const retainedIndexOf = ({ pod }: SortablePod) => retainedIndexes.get(pod.tree.path) ?? retainedOrder.length;
  return sortedPods.toSorted((a, b) => retainedIndexOf(a) - retainedIndexOf(b));
}

/** Returns the visible rows in order. The ancestors of a match are visible and expanded. */
export function treeRows({ at: now, node, pods }: ActorTrees, selection: RowSelection): ActorRow[] {
  const rows = rowsOf(node, { depth: 0, name: node.name, now, view: selection });
  for (const { pod, name } of sortPods(pods, node.name, selection)) {
    rows.push(...rowsOf(pod.tree, { depth: 0, name, now, view: selection, pod }));
  }
  return rows;
}

interface RowContext {
  readonly depth: number;
  readonly name: string;
  readonly now: number;
  readonly view: RowSelection;
  readonly pod?: RowPod;
}

/** Returns the rows of an actor and its visible descendants. Empty if none of them matches. */
function rowsOf(actor: ActorNode, { depth, name, now, view, pod }: RowContext): ActorRow[] {
  const { namespace, name: podName } = pod ?? {};
  const isMatch = view.matches?.({ node: actor, namespace, podName, now }) ?? true;
  const children = visibleChildren(actor);
  const isOpen = view.isOpen(actor.path);
  const childContext = { depth: depth + 1, now, view, ...(pod ? { pod } : {}) };
  const includesChildren = isOpen || !isMatch;
  const descendants = includesChildren
    ? children.flatMap((child) => rowsOf(child, { ...childContext, name: child.name }))
    : [];
  if (!isMatch && descendants.length === 0) return [];
  const subject = descendants.length > 0 ? actor : mostSevereActor(actor);
  const row = {
    path: actor.path,
    depth,
    category: categoryOf(subject),
    name,
    isMatch,
    actor,
    subject,
    kind: kindText(actor.kind),
    ...(children.length > 0 ? { isExpanded: isOpen || descendants.length > 0 } : {}),
    ...(pod ? { pod } : {}),
  };
  return [row, ...descendants];
}
