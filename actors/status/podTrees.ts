/** Caches the actor tree of each pod until one of the pod's actors makes a transition. */

import type { GetStateSince } from '../../machines/shared/stateMeta.ts';
import { actorTree } from '../../machines/shared/views/actorTree.ts';
import type { PodRef } from '../../machines/shared/views/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

export interface PodTrees {
  /** Discards the cached tree of a pod after a transition of one of its actors. */
  invalidateTree(pod: PodRef): void;
  getTree(pod: PodRef): ActorNode;
}

/**
 * Creates a cache of the pods' actor trees. Caching pays off, because the trees are read about ten times a second and
 * few of them change between reads.
 */
export function createPodTrees(getStateSince: GetStateSince): PodTrees {
  const cache = new WeakMap<PodRef, ActorNode>();
  return {
    invalidateTree: (pod) => void cache.delete(pod),
    getTree: (pod) => {
      const tree = cache.get(pod) ?? actorTree(pod, { getStateSince });
      cache.set(pod, tree);
      return tree;
    },
  };
}
