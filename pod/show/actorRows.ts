/**
 * All actors of a node as the rows of one tree: the node agent first, then its pods, the worst first. What a row says is
 * made when it is looked at: there may be thousands.
 */
import type { Pod } from '../api/schema/pod.ts';
import { lookUp } from '../lookUp.ts';
import type { ActorFilter } from './actorFilter.ts';
import { type ActorNode, CALL, type LimiterView } from './actorNode.ts';
import { byWorst, type Category, categoryOf } from './category.ts';
import { KIND_NAMES, type PlaceOf, queuePlaces } from './explainText.ts';
import { type PodActors, podActors, type SeenPod } from './seenPod.ts';
import { shownName, withoutNode } from './shownName.ts';

/** All actors of a node at a moment. */
export interface NodeActors {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The node agent with the actors that serve all pods; its name is the node's. */
  readonly node: ActorNode;
  readonly pods: readonly SeenPod[];
  /** Where pods and containers may stand in line. */
  readonly limiters: readonly LimiterView[];
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
  readonly of?: PodOfRow;
}

/** An actor by the names on the way to it: `pod/default/web-host/container/app/probe/readiness`, `node/admission`. */
export function actorRef({ path }: Pick<ActorNode, 'path'>, pod?: Pod['metadata']): string {
  if (pod === undefined) return path === '' ? 'node' : `node/${path}`;
  return ['pod', pod.namespace, pod.name, ...path.split('/').slice(2)].join('/');
}

interface PodOfRow {
  readonly actors: PodActors;
  readonly placeOf: PlaceOf;
}

const shownChildren = ({ children }: ActorNode): readonly ActorNode[] => children.filter(({ kind }) => kind !== CALL);

/** The worst of an actor and all below it; of equals the nearest. Calls are part of who has made them. */
function worstOf(actor: ActorNode): ActorNode {
  return shownChildren(actor)
    .map(worstOf)
    .reduce((worst, each) => (byWorst(categoryOf(each), categoryOf(worst)) < 0 ? each : worst), actor);
}

/** How many pods there are, and how many rows the tree has when all of it is open. */
export function actorCount({ node, pods }: NodeActors): { readonly pods: number; readonly actors: number } {
  const below = (actor: ActorNode): number => shownChildren(actor).reduce((sum, child) => sum + below(child), 1);
  const trees = [node, ...pods.map((seen) => podActors(seen).tree)];
  return { pods: pods.length, actors: trees.reduce((sum, tree) => sum + below(tree), 0) };
}

/** A pod with what it is put in order by. */
interface Ordered {
  readonly actors: PodActors;
  readonly worst: Category;
  readonly name: string;
}

/** The latest change of an actor or one below it. */
const changedAt = (actor: ActorNode): number => Math.max(actor.since, ...shownChildren(actor).map(changedAt));

const beganAt = ({ metadata, status }: PodActors['pod']): number =>
  Date.parse(metadata.creationTimestamp ?? status?.startTime ?? '') || 0;

const COMPARISONS: Readonly<Record<RowOrder, (a: Ordered, b: Ordered) => number>> = {
  worst: (a, b) => byWorst(a.worst, b.worst),
  name: () => 0,
  age: (a, b) => beganAt(b.actors.pod) - beganAt(a.actors.pod),
  changed: (a, b) => changedAt(b.actors.tree) - changedAt(a.actors.tree),
};

function inOrder(
  pods: readonly PodActors[],
  node: string,
  { order = 'worst', reversed, held = [] }: RowsView,
): Ordered[] {
  const named = pods.map((actors) => ({
    actors,
    worst: categoryOf(worstOf(actors.tree)),
    name: shownName({ ...actors.pod.metadata, name: withoutNode(actors.pod.metadata.name, node) }),
  }));
  const compare = COMPARISONS[order];
  const sorted = named.toSorted((a, b) => compare(a, b) || (a.name < b.name ? -1 : 1));
  if (reversed) sorted.reverse();
  const places = new Map(held.map((path, index) => [path, index]));
  const placeOf = ({ actors }: Ordered) => places.get(actors.tree.path) ?? held.length;
  return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The rows to be shown, in their order. What is above an actor that was looked for is shown, and open, too. */
export function actorRows({ at: now, node, pods, limiters }: NodeActors, view: RowsView): ActorRow[] {
  const rows = rowsOf(node, { depth: 0, name: node.name, now, view });
  for (const { actors, name } of inOrder(pods.map(podActors), node.name, view)) {
    rows.push(...rowsOf(actors.tree, { depth: 0, name, now, view, of: podOfRow(actors, limiters) }));
  }
  return rows;
}

/** The queues are read when a row that may stand in one is looked at. */
function podOfRow(actors: PodActors, limiters: readonly LimiterView[]): PodOfRow {
  let places: PlaceOf | undefined;
  return {
    actors,
    placeOf: (container) => {
      places ??= queuePlaces(actors, limiters);
      return places(container);
    },
  };
}

interface RowPlace {
  readonly depth: number;
  readonly name: string;
  readonly now: number;
  readonly view: RowsView;
  readonly of?: PodOfRow;
}

/** The row of an actor and those below it; none where neither it nor one below it was looked for. */
function rowsOf(actor: ActorNode, { depth, name, now, view, of }: RowPlace): ActorRow[] {
  const { namespace, name: podName } = of?.actors.pod.metadata ?? {};
  const isMatch = view.matches?.({ node: actor, namespace, podName, now }) ?? true;
  const children = shownChildren(actor);
  const isOpen = view.isOpen(actor.path);
  const place = { depth: depth + 1, now, view, ...(of ? { of } : {}) };
  const isSearched = isOpen || !isMatch;
  const below = isSearched ? children.flatMap((child) => rowsOf(child, { ...place, name: child.name })) : [];
  if (!isMatch && below.length === 0) return [];
  const told = below.length > 0 ? actor : worstOf(actor);
  const row = {
    ...{ path: actor.path, depth, category: categoryOf(told), name, isMatch, actor, told },
    kind: lookUp<string>(KIND_NAMES, actor.kind) ?? actor.kind,
    ...(children.length > 0 ? { isOpen: isOpen || below.length > 0 } : {}),
    ...(of ? { of } : {}),
  };
  return [row, ...below];
}
