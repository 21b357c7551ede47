/** Builds the rows of the actor tree from the actors of this process. */

import { type QueueLookup, queuePositions } from '../explain/explainText.ts';
import { podRow } from '../tables/table.ts';
import type { ActorNode, LimiterView } from './actorNode.ts';
import { type ContainerWithActor, containerNames, type PodActors, type PodWithTree, podActors } from './podActors.ts';
import { type ActorRow, countTree, type RowPod, type RowSelection, type TreeCount, treeRows } from './treeRows.ts';

/** All actors of a node at one point in time. */
export interface NodeActors {
  /** Time of the snapshot in milliseconds since the epoch. */
  readonly at: number;
  /** The node agent with the actors that serve all pods. Its name is the name of the node. */
  readonly node: ActorNode;
  readonly pods: readonly PodWithTree[];
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

export const actorRows = ({ pods, limiters, ...nodeActors }: NodeActors, view: RowSelection): ActorRow[] =>
  treeRows({ ...nodeActors, pods: pods.map((each) => toRowPod(each, limiters)) }, view);

/** Returns the number of pods and the number of rows of the fully expanded tree. */
export const countActors = ({ pods, limiters, ...nodeActors }: NodeActors): TreeCount =>
  countTree({ ...nodeActors, pods: pods.map((each) => toRowPod(each, limiters)) });

/** Creates the entry of a pod. The limiters' queues are read lazily and only once. */
function toRowPod(podWithTree: PodWithTree, limiters: readonly LimiterView[]): RowPod {
  const actors = podActors(podWithTree);
  const { metadata } = podWithTree.pod;
  let queueLookup: QueueLookup | undefined;
  return {
    tree: actors.tree,
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    createdAt: podStartTime(actors),
    statusColumns: (now) => podRow(podWithTree.pod, now),
    containerReasonAt(path) {
      const container = actors.containers.find(({ actor }) => actor.path === path);
      return container && containerReason(container);
    },
    queuePositionOf(container) {
      queueLookup ??= queuePositions(podWithTree.pod.metadata.uid, containerNames(actors), limiters);
      return queueLookup(container);
    },
  };
}

const podStartTime = ({ pod: { metadata, status } }: PodActors): number =>
  Date.parse(metadata.creationTimestamp ?? status?.startTime ?? '') || 0;

/** Waiting reasons of a container that is starting normally. */
const STARTING_REASONS = ['ContainerCreating', 'PodInitializing'];

function containerReason({ role, status }: ContainerWithActor): string | undefined {
  const { state = {}, ready } = status ?? {};
  if (state.running) return ready || role === 'init' || role === 'ephemeral' ? undefined : 'not ready';
  if (state.terminated) return state.terminated.exitCode === 0 ? undefined : state.terminated.reason;
  const reason = state.waiting?.reason ?? '';
  return STARTING_REASONS.includes(reason) ? undefined : reason;
}
