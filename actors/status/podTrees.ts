/** The trees of the pods' actors, each made when it is asked for and made again only after one of its actors has moved. */
import { actorTree } from '../../machines/shared/actorTree.ts';
import type { SinceOf } from '../../machines/shared/stateMeta.ts';
import type { PodRef } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

export interface PodTrees {
  /** Says that an actor of the pod has made a transition. */
  note(pod: PodRef): void;
  of(pod: PodRef): ActorNode;
}

/** Many are read ten times a second, and few change between: those that have not are not walked. */
export function podTrees(sinceOf: SinceOf): PodTrees {
  const made = new WeakMap<PodRef, ActorNode>();
  return {
    note: (pod) => void made.delete(pod),
    of: (pod) => {
      const tree = made.get(pod) ?? actorTree(pod, { sinceOf });
      made.set(pod, tree);
      return tree;
    },
  };
}
