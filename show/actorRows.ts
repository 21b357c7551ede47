/** Builds the rows of the actor tree from the actors of this process. */
import type { ActorNode, LimiterView } from './actorNode.ts';
import { type PlaceOf, queuePlaces } from './explainText.ts';
import { containerNames, type PodActors, podActors, type SeenContainer, type SeenPod } from './seenPod.ts';
import { podRow } from './table.ts';
import { type ActorRow, type Count, type RowPod, type RowsView, treeCount, treeRows } from './treeRows.ts';

/** All actors of a node at one time. */
export interface NodeActors {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The node agent with the actors that serve all pods. Its name is the name of the node. */
  readonly node: ActorNode;
  readonly pods: readonly SeenPod[];
  /** Limiters whose queues may contain pods and containers. */
  readonly limiters: readonly LimiterView[];
}

/**
 * Returns the path of an actor with the pod's name in place of its UID:
 * `pod/default/web-host/container/app/probe/readiness`, `node/admission`.
 */
export function actorRef({ path }: Pick<ActorNode, 'path'>, pod?: Pick<RowPod, 'namespace' | 'name'>): string {
  if (pod === undefined) return path === '' ? 'node' : `node/${path}`;
  return ['pod', pod.namespace, pod.name, ...path.split('/').slice(2)].join('/');
}

export const actorRows = ({ pods, limiters, ...seen }: NodeActors, view: RowsView): ActorRow[] =>
  treeRows({ ...seen, pods: pods.map((each) => rowPod(each, limiters)) }, view);

/** Returns the number of pods and the number of rows of the fully expanded tree. */
export const actorCount = ({ pods, limiters, ...seen }: NodeActors): Count =>
  treeCount({ ...seen, pods: pods.map((each) => rowPod(each, limiters)) });

/** Creates the entry of a pod. The queues are read lazily and only once. */
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

/** Waiting reasons of a container that is starting normally. */
const ON_ITS_WAY = ['ContainerCreating', 'PodInitializing'];

function containerWord({ role, status }: SeenContainer): string | undefined {
  const { state = {}, ready } = status ?? {};
  if (state.running) return ready || role === 'init' || role === 'ephemeral' ? undefined : 'not ready';
  if (state.terminated) return state.terminated.exitCode === 0 ? undefined : state.terminated.reason;
  const reason = state.waiting?.reason ?? '';
  return ON_ITS_WAY.includes(reason) ? undefined : reason;
}
