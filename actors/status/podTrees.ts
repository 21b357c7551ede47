/** Caches the actor tree of each pod until one of the pod's actors makes a transition. */
import { actorTree } from '../../machines/shared/actorTree.ts';
import type { SinceOf } from '../../machines/shared/stateMeta.ts';
import type { PodRef } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

export interface PodTrees {
  /** Discards the cached tree of a pod after a transition of one of its actors. */
  invalidate(pod: PodRef): void;
  treeOf(pod: PodRef): ActorNode;
}

/**
 * Creates the cache. It is worthwhile because trees are read about ten times a second and few of them change between
 * two reads.
 */
export function createPodTrees(sinceOf: SinceOf): PodTrees {
  const cache = new WeakMap<PodRef, ActorNode>();
  return {
    invalidate: (pod) => void cache.delete(pod),
    treeOf: (pod) => {
      const tree = cache.get(pod) ?? actorTree(pod, { sinceOf });
      cache.set(pod, tree);
      return tree;
    },
  };
}
