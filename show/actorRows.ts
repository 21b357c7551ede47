/** The actors of this process as the rows of a tree. */
import type { ActorNode, LimiterView } from './actorNode.ts';
import { type PlaceOf, queuePlaces } from './explainText.ts';
import { containerNames, type PodActors, podActors, type SeenContainer, type SeenPod } from './seenPod.ts';
import { podRow } from './table.ts';
import { type ActorRow, type Count, type RowPod, type RowsView, treeCount, treeRows } from './treeRows.ts';

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

/** An actor by the names on the way to it: `pod/default/web-host/container/app/probe/readiness`, `node/admission`. */
export function actorRef({ path }: Pick<ActorNode, 'path'>, pod?: Pick<RowPod, 'namespace' | 'name'>): string {
  if (pod === undefined) return path === '' ? 'node' : `node/${path}`;
  return ['pod', pod.namespace, pod.name, ...path.split('/').slice(2)].join('/');
}

/** The rows to be shown, in their order. */
export const actorRows = ({ pods, limiters, ...seen }: NodeActors, view: RowsView): ActorRow[] =>
  treeRows({ ...seen, pods: pods.map((each) => rowPod(each, limiters)) }, view);

/** How many pods there are, and how many rows the tree has when all of it is open. */
export const actorCount = ({ pods, limiters, ...seen }: NodeActors): Count =>
  treeCount({ ...seen, pods: pods.map((each) => rowPod(each, limiters)) });

/** A pod with its object. The queues are read once, when a row that may stand in one is looked at. */
function rowPod(seen: SeenPod, limiters: readonly LimiterView[]): RowPod {
  const actors = podActors(seen);
  const { metadata } = seen.pod;
  let places: PlaceOf | undefined;
  return {
    tree: actors.tree,
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    beganAt: beganAt(actors),
    columns: (now) => podRow(seen.pod, now),
    wordOf(path) {
      const container = actors.containers.find(({ actor }) => actor.path === path);
      return container && containerWord(container);
    },
    placeOf(container) {
      places ??= queuePlaces(seen.pod.metadata.uid, containerNames(actors), limiters);
      return places(container);
    },
  };
}

const beganAt = ({ pod: { metadata, status } }: PodActors): number =>
  Date.parse(metadata.creationTimestamp ?? status?.startTime ?? '') || 0;

/** Reasons to wait that say no more than that it is on its way. */
const ON_ITS_WAY = ['ContainerCreating', 'PodInitializing'];

function containerWord({ role, status }: SeenContainer): string | undefined {
  const { state = {}, ready } = status ?? {};
  if (state.running) return ready || role === 'init' || role === 'ephemeral' ? undefined : 'not ready';
  if (state.terminated) return state.terminated.exitCode === 0 ? undefined : state.terminated.reason;
  const reason = state.waiting?.reason ?? '';
  return ON_ITS_WAY.includes(reason) ? undefined : reason;
}
