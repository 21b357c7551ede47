/** Whose actors have moved since somebody looked: most that enters a node moves those of one pod. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { pathOf } from '../machines/shared/actorRefs.ts';
import { podUidOf } from '../show/actorPath.ts';

/** The key of the node's own actors among the UIDs of pods. */
export const NODE = '';

/** What is to be looked at again. */
export interface Moved {
  /** The UIDs of pods of which any actor has moved, and `NODE`. */
  readonly trees: ReadonlySet<string>;
  /** A pod has come, has gone, or has another status. */
  readonly pods: boolean;
}

export class Touched {
  readonly #treesOf = new WeakMap<AnyActorRef, readonly string[]>();
  #trees = new Set<string>();
  #arePodsTold = false;

  /** Hears what XState tells of all actors. */
  readonly inspect = ({ type, actorRef }: InspectionEvent): void => {
    if (type !== '@xstate.snapshot') return;
    // Every actor here is one of XState's own.
    for (const tree of this.#of(actorRef as AnyActorRef)) this.#trees.add(tree);
  };

  /** Hears of a pod. */
  readonly tell = (): void => {
    this.#arePodsTold = true;
  };

  /** What has moved since this was asked last. */
  take(): Moved {
    const moved = { trees: this.#trees, pods: this.#arePodsTold };
    this.#trees = new Set();
    this.#arePodsTold = false;
    return moved;
  }

  #of(ref: AnyActorRef): readonly string[] {
    const known = this.#treesOf.get(ref) ?? treesWith(pathOf(ref));
    this.#treesOf.set(ref, known);
    return known;
  }
}

function treesWith(path: readonly string[]): readonly string[] {
  const uid = podUidOf(path.join('/'));
  if (uid === undefined) return [NODE];
  // What the node says of itself it takes from its pods as well, of which it sees no more than themselves.
  return path.length === 1 ? [uid, NODE] : [uid];
}
