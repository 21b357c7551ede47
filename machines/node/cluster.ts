/** The node's data about its cluster. */
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { ClusterFact, OwnNodeState } from '../shared/clusterFacts.ts';
import type { NodeEvent } from '../shared/events.ts';
import type { EventQueueState } from './eventQueue.ts';
import type { SourceState } from './source.ts';

/** The node's access to the API server, without secrets. */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string;
  /** Path of the kubeconfig file. */
  readonly kubeconfig: string;
  readonly context: string;
  /** Name of the user entry in the kubeconfig. Empty for anonymous access. */
  readonly user: string;
  /** Kind of credentials, such as `client certificate`. */
  readonly means: string;
}

export interface ClusterKnowledge {
  /** Undefined until the Node is registered. `isInitialized` is set once its CSINode exists as well. */
  readonly registration?: { readonly uid: string; readonly isInitialized: boolean };
  /** The node's own Node object. Null if it does not exist, undefined until the API server has been read. */
  readonly ownNode?: OwnNodeState | null;
  /** States of the watches other than the one on pods, by display name. */
  readonly watches: Readonly<Record<string, SourceState>>;
  /** Queue of events to the API server. Undefined if no event has had to wait. */
  readonly eventQueue?: EventQueueState;
}

/** Returns the changes of the context for a fact about the cluster. */
export function clusterChanges({ watches }: ClusterKnowledge, event: ClusterFact): Partial<ClusterKnowledge> {
  if (event.type === 'cluster.objectsChanged') return {};
  if (event.type === 'cluster.eventsChanged') return { eventQueue: event.state };
  if (event.type === 'cluster.nodeSeen') return { ownNode: event.node };
  const others = Object.entries(watches).filter(([watch]) => watch !== event.watch || event.state !== null);
  return { watches: { ...Object.fromEntries(others), ...(event.state ? { [event.watch]: event.state } : {}) } };
}

export const isClusterFact = (event: NodeEvent): event is ClusterFact => event.type.startsWith('cluster.');

/**
 * The node's capacity for pods, including extended resources that others have added to the Node, such as those of
 * device plugins.
 */
export function podCapacity({ ownNode }: Pick<ClusterKnowledge, 'ownNode'>, own: Capacity): Capacity {
  return ownNode?.extended ? { ...own, extra: { ...ownNode.extended, ...own.extra } } : own;
}

/**
 * The labels and taints that admission uses: those of the Node, which others may change, or the node's own if there is
 * no Node.
 */
export function admissionLabels(
  { ownNode }: Pick<ClusterKnowledge, 'ownNode'>,
  own: Partial<Pick<AdmissionNode, 'labels' | 'taints'>> = {},
): Partial<Pick<AdmissionNode, 'labels' | 'taints'>> {
  return ownNode ? { labels: ownNode.labels, taints: ownNode.taints } : own;
}
