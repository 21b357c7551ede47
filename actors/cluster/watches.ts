/** All that the node follows at the API server beside its pods, as one feed. */
import type { Feed } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import type { NodeParts } from '../nodeParts.ts';
import { type OwnNode, ownNodeWatch } from './ownNode.ts';
import { follow } from './watch.ts';

interface WatchesParts extends Pick<NodeParts, 'cluster'> {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly ownNode: OwnNode;
}

export const clusterWatches =
  ({ cluster, nodeName, ownNode, clock, jitter }: WatchesParts): Feed =>
  async (send, { signal }) => {
    if (cluster === undefined) return;
    const watches = [ownNodeWatch(ownNode, nodeName)];
    const how = { client: cluster.client, clock, jitter, signal, send };
    await Promise.all(watches.map((watch) => follow(watch, how)));
  };
