/** Builds the actor tree's views of the feeds that connect the node with its cluster. */
import type { FeedView } from '../../../show/actors/actorNode.ts';
import type { NodeContext } from '../context.ts';
import { watchView } from '../pods/source.ts';
import type { ClusterAccess } from './cluster.ts';
import { eventQueueView, idleQueue } from './eventQueue.ts';

type ClusterFeedInput = Pick<NodeContext, 'cluster' | 'watches' | 'eventQueue'>;

/** Returns the credentials, the watches and the event queue as feeds. `startedAt` is the start time of the node. */
export function clusterFeeds({ cluster, watches, eventQueue }: ClusterFeedInput, startedAt: number): FeedView[] {
  if (cluster === undefined) return [];
  const { access } = cluster;
  return [
    ...(access ? [accessView(access, startedAt)] : []),
    ...Object.entries(watches).map(([kind, state]) => watchView(kind, state)),
    eventQueueView(eventQueue ?? idleQueue(startedAt)),
  ];
}

/** Returns the view of the node's access to the cluster. It contains user-defined names only, no secrets. */
const accessView = ({ server, kubeconfig, context, user, credentialKind }: ClusterAccess, since: number): FeedView => ({
  kind: 'credentials',
  name: context,
  path: 'watches/credentials',
  state: 'in use',
  tags: ['steady'],
  since,
  facts: [
    `connects to ${server}${user === '' ? '' : ` as ${user}`} with ${credentialKind}`,
    `context ${context} of ${kubeconfig}`,
  ],
});
