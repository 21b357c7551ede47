/** What the node knows of itself in its cluster. */
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { ClusterFact, SeenNode } from '../shared/clusterFacts.ts';
import type { NodeEvent } from '../shared/events.ts';
import type { EventQueueState } from './eventQueue.ts';
import type { SourceState } from './source.ts';

/** How the API server is asked: nothing in it is secret. */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string;
  /** The path of the file that says how. */
  readonly kubeconfig: string;
  readonly context: string;
  /** As that file calls whoever asks; empty: nobody in particular. */
  readonly user: string;
  /** By what the server knows them: `client certificate`. */
  readonly means: string;
}

export interface ClusterKnowledge {
  /** Its Node in the cluster, once it is registered, and whether its CSINode is there as well. */
  readonly registration?: { readonly uid: string; readonly isInitialized: boolean };
  /** Its Node as the API server has it; null where that has none, absent until it has said. */
  readonly ownNode?: SeenNode | null;
  /** How the sets of objects get on that it follows beside its pods, by what they are shown as. */
  readonly watches: Readonly<Record<string, SourceState>>;
  /** Events on their way to the API server; absent: none has had to wait. */
  readonly eventQueue?: EventQueueState;
}

/** What the node keeps of a fact about its cluster. */
export function recordedCluster({ watches }: ClusterKnowledge, event: ClusterFact): Partial<ClusterKnowledge> {
  if (event.type === 'cluster.objectsChanged') return {};
  if (event.type === 'cluster.eventsChanged') return { eventQueue: event.state };
  if (event.type === 'cluster.nodeSeen') return { ownNode: event.node };
  const others = Object.entries(watches).filter(([watch]) => watch !== event.watch || event.state !== null);
  return { watches: { ...Object.fromEntries(others), ...(event.state ? { [event.watch]: event.state } : {}) } };
}

export const isOfCluster = (event: NodeEvent): event is ClusterFact => event.type.startsWith('cluster.');

/** What there is for pods: what others have said of the Node, as of devices that they look after, counts as well. */
export function roomBy({ ownNode }: Pick<ClusterKnowledge, 'ownNode'>, own: Capacity): Capacity {
  return ownNode?.extended ? { ...own, extra: { ...ownNode.extended, ...own.extra } } : own;
}

/** What admission goes by that others may change: the labels and taints of the Node, once there is one. */
export function admittedBy(
  { ownNode }: Pick<ClusterKnowledge, 'ownNode'>,
  own: Partial<Pick<AdmissionNode, 'labels' | 'taints'>> = {},
): Partial<Pick<AdmissionNode, 'labels' | 'taints'>> {
  return ownNode ? { labels: ownNode.labels, taints: ownNode.taints } : own;
}
