/** Caches of the cluster's objects other than pods. */
import { systemJitter } from '../../base/time/clock.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import { clusterObjects } from '../objects/clusterObjects.ts';
import { podContent } from '../objects/podContent.ts';
import { ClusterRuntimeClasses } from './clusterRuntimeClasses.ts';
import { OwnNode } from './node/ownNode.ts';
import { ClusterServices } from './services.ts';
import type { ClusterCaches } from './watches.ts';

/** Creates the caches of cluster objects. Without a cluster, the caches stay empty. */
export function createClusterCaches(
  { cluster, jitter = systemJitter }: Pick<NodeParts, 'cluster' | 'jitter'>,
  dependencies: Pick<Parameters<typeof clusterObjects>[0], 'clock' | 'files' | 'listPodDirs' | 'onError'>,
): ClusterCaches {
  const ownNode = new OwnNode();
  const clusterCaches = { ownNode, services: new ClusterServices(), classes: new ClusterRuntimeClasses() };
  if (cluster === undefined) return clusterCaches;
  const { client, objects: settings } = cluster;
  const clusterContent = podContent(cluster, { ...dependencies, jitter });
  return {
    ...clusterCaches,
    ...clusterContent,
    objects: clusterObjects({ client, settings, ownNode, jitter, ...dependencies }),
  };
}
