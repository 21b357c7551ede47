/**
 * Tracks which actor trees have changed, so that only these are compared. Most inputs of a node only change the actors
 * of a single pod.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { actorPath } from '../../machines/shared/views/actorRefs.ts';
import { podUidOf } from '../../show/actors/actorPath.ts';

/** The key for the tree of the node's own actors. The other keys are pod UIDs. */
export const NODE_KEY = '';

/** The trees that may have changed and must be compared again. */
export interface ChangedTrees {
  /** The UIDs of pods whose actors have changed, and `NODE_KEY` if actors of the node have changed. */
  readonly treeKeys: ReadonlySet<string>;
  /** Whether a pod was added, was removed, or has a new status. */
  readonly havePodsChanged: boolean;
}

export class TouchedTrees {
  readonly #treeKeysByActor = new WeakMap<AnyActorRef, readonly string[]>();
  #treeKeys = new Set<string>();
  #havePodsChanged = false;

  /** Records which trees an inspection event affects. */
  readonly inspect = ({ type, actorRef }: InspectionEvent): void => {
    if (type !== '@xstate.snapshot') return;
    // Safe cast, because every actor of the node was created by XState.
    for (const tree of this.treeKeysOfActor(actorRef as AnyActorRef)) this.#treeKeys.add(tree);
  };

  /** Records that a pod was added, was removed, or has a new status. */
  readonly markPods = (): void => {
    this.#havePodsChanged = true;
  };

  /** Returns the changes since the last call of this method. */
  take(): ChangedTrees {
    const changedTrees = { treeKeys: this.#treeKeys, havePodsChanged: this.#havePodsChanged };
    this.#treeKeys = new Set();
    this.#havePodsChanged = false;
    return changedTrees;
  }

  treeKeysOfActor(ref: AnyActorRef): readonly string[] {
    const treeKeys = this.#treeKeysByActor.get(ref) ?? affectedTreeKeys(actorPath(ref));
    this.#treeKeysByActor.set(ref, treeKeys);
    return treeKeys;
  }
}

function affectedTreeKeys(path: readonly string[]): readonly string[] {
  const uid = podUidOf(path.join('/'));
  if (uid === undefined) return [NODE_KEY];
  // The node's own tree also depends on the top-level actor of each pod, but not on the actors below it.
  return path.length === 1 ? [uid, NODE_KEY] : [uid];
}
