import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import type { ClusterFact, OwnNodeState } from '../../shared/events/clusterFacts.ts';
import type { SourceState } from '../pods/source.ts';
import type { EventQueueState } from './eventQueue.ts';

/** The node's access to the API server, without secrets. */
export interface ClusterAccess {
  /** URL of the API server, `https://host:port`. */
  readonly server: string;
  /** Path of the kubeconfig file. */
  readonly kubeconfig: string;
  readonly context: string;
  /** Name of the user entry in the kubeconfig. Empty for anonymous access. */
  readonly user: string;
  /** Kind of credentials, such as `client certificate`. */
  readonly credentialKind: string;
}

export interface ClusterState {
  /**
   * The registered Node. Undefined until the Node is registered. `isInitialized` is set once its CSINode exists as
   * well.
   */
  readonly registration?: { readonly uid: string; readonly isInitialized: boolean };
  /**
   * The node's own Node object. Null if it does not exist, undefined until it has been requested from the API server.
   */
  readonly ownNode?: OwnNodeState | null;
  /** States of all watches except the watch on pods, by display name. */
  readonly watches: Readonly<Record<string, SourceState>>;
  /** State of the queue of events that are to be sent to the API server. Undefined if no event has had to wait. */
  readonly eventQueue?: EventQueueState;
}

/** Returns the context changes that result from a fact about the cluster. */
export function clusterChanges(
  { watches }: ClusterState,
  event: Exclude<ClusterFact, { type: 'cluster.objectsChanged' }>,
): Partial<ClusterState> {
  if (event.type === 'cluster.eventsChanged') return { eventQueue: event.state };
  if (event.type === 'cluster.nodeSeen') return { ownNode: event.node };
  const otherWatches = Object.entries(watches).filter(([watch]) => watch !== event.watch || event.state !== null);
  return { watches: { ...Object.fromEntries(otherWatches), ...(event.state ? { [event.watch]: event.state } : {}) } };
}

/**
 * Returns the node's capacity for pods, including extended resources that other components, such as device plugins,
 * have added to the Node.
 */
export function podCapacity({ ownNode }: Pick<ClusterState, 'ownNode'>, own: Capacity): Capacity {
  return ownNode?.extendedResources ? { ...own, extra: { ...ownNode.extendedResources, ...own.extra } } : own;
}

/**
 * Returns the labels and taints that admission uses. These are the labels and taints of the Node, which other clients
 * may change, or the node's own if the Node does not exist.
 */
export function admissionLabels(
  { ownNode }: Pick<ClusterState, 'ownNode'>,
  own: Partial<Pick<AdmissionNode, 'labels' | 'taints'>> = {},
): Partial<Pick<AdmissionNode, 'labels' | 'taints'>> {
  return ownNode ? { labels: ownNode.labels, taints: ownNode.taints } : own;
}
