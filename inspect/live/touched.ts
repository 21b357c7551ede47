/** Tracks which actor trees have changed. Most inputs of a node only change the actors of a single pod. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { pathOf } from '../../machines/shared/actorRefs.ts';
import { podUidOf } from '../../show/actors/actorPath.ts';

/** The key of the node's own actors among the UIDs of pods. */
export const NODE = '';

/** The trees to compare again. */
export interface ChangedTrees {
  /** The UIDs of pods whose actors have changed, and `NODE`. */
  readonly trees: ReadonlySet<string>;
  /** Whether a pod was added, was removed, or has a new status. */
  readonly pods: boolean;
}

export class TouchedTrees {
  readonly #treeCache = new WeakMap<AnyActorRef, readonly string[]>();
  #trees = new Set<string>();
  #havePodsChanged = false;

  /** Handles an inspection event. */
  readonly inspect = ({ type, actorRef }: InspectionEvent): void => {
    if (type !== '@xstate.snapshot') return;
    // Safe cast: every actor of the node was created by XState.
    for (const tree of this.#treesOfActor(actorRef as AnyActorRef)) this.#trees.add(tree);
  };

  /** Records that a pod was added, was removed, or has a new status. */
  readonly markPods = (): void => {
    this.#havePodsChanged = true;
  };

  /** Returns the changes since the last call. */
  take(): ChangedTrees {
    const moved = { trees: this.#trees, pods: this.#havePodsChanged };
    this.#trees = new Set();
    this.#havePodsChanged = false;
    return moved;
  }

  #treesOfActor(ref: AnyActorRef): readonly string[] {
    const trees = this.#treeCache.get(ref) ?? treesAffectedBy(pathOf(ref));
    this.#treeCache.set(ref, trees);
    return trees;
  }
}

function treesAffectedBy(path: readonly string[]): readonly string[] {
  const uid = podUidOf(path.join('/'));
  if (uid === undefined) return [NODE];
  // The node's own explanation also depends on the top-level actors of pods, but not on the actors below them.
  return path.length === 1 ? [uid, NODE] : [uid];
}
