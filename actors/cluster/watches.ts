/** Provides the feed that runs all watches except the pod watch. */

import type { Clock } from '../../base/time/clock.ts';
import type { FactFeed } from '../boundary.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import type { ObjectStore } from '../objects/objectStore.ts';
import type { PodContent } from '../objects/podContent.ts';
import { type ClusterRuntimeClasses, classesWatch } from './clusterRuntimeClasses.ts';
import { type OwnNode, ownNodeWatch } from './node/ownNode.ts';
import { runWatch } from './runWatch.ts';
import { type ClusterServices, servicesWatch } from './services.ts';

/** Caches of the cluster's objects, filled by watches. */
export interface ClusterCaches extends Partial<PodContent> {
  readonly ownNode: OwnNode;
  readonly services: ClusterServices;
  readonly classes: ClusterRuntimeClasses;
  /** Undefined on a node without a cluster. */
  readonly objects?: ObjectStore | undefined;
}

interface WatchesDependencies extends Pick<NodeParts, 'cluster'>, ClusterCaches {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

export const clusterWatches =
  ({
    cluster,
    nodeName,
    ownNode,
    services,
    classes,
    objects,
    trustBundles,
    clock,
    jitter,
    onError,
  }: WatchesDependencies): FactFeed =>
  async (send, { signal }) => {
    if (cluster === undefined) return;
    const watchContext = { client: cluster.client, clock, jitter, signal, send, onError };
    await Promise.all([
      runWatch(ownNodeWatch(ownNode, nodeName, clock, cluster.onNodeUid), watchContext),
      runWatch(servicesWatch(services), watchContext),
      runWatch(classesWatch(classes), watchContext),
      objects?.run(send, { signal }),
      trustBundles?.run(send, { signal }),
    ]);
  };
