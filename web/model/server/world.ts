/**
 * Builds the state of the node at one point in time from a snapshot and the subsequent frames. The state is immutable.
 */
import type { Frame, ShownActor, ShownNode, ShownPod, Snapshot } from '../../../inspect/protocol.ts';

export interface World {
  readonly at: number;
  readonly node: ShownNode;
  readonly pods: ReadonlyMap<string, ShownPod>;
  readonly actors: ReadonlyMap<string, ShownActor>;
  /** Paths of each actor's children in order, by the actor's path. */
  readonly children: ReadonlyMap<string, readonly string[]>;
}

export function worldOf({ at, node, pods, actors }: Snapshot): World {
  const actorsByPath = new Map(actors.map((actor) => [actor.path, actor]));
  return {
    at,
    node,
    actors: actorsByPath,
    children: childrenOf(actorsByPath),
    pods: new Map(pods.map((pod) => [pod.uid, pod])),
  };
}

/** Applies a frame to a world. Everything that the frame does not contain remains the same. */
export function withFrame(world: World, { at, node, pods, podsGone, actors, actorsGone }: Frame): World {
  const nextPods = applyChanges(world.pods, pods, ({ uid }) => uid, podsGone);
  const nextActors = applyChanges(world.actors, actors, ({ path }) => path, actorsGone);
  const areChildrenUnchanged =
    actorsGone.length === 0 && actors.every(({ path, order }) => world.actors.get(path)?.order === order);
  return {
    at,
    node: node ?? world.node,
    pods: nextPods,
    actors: nextActors,
    children: areChildrenUnchanged ? world.children : childrenOf(nextActors),
  };
}

function applyChanges<T>(
  previousItems: ReadonlyMap<string, T>,
  updatedItems: readonly T[],
  keyOf: (each: T) => string,
  removedKeys: readonly string[],
): ReadonlyMap<string, T> {
  if (updatedItems.length === 0 && removedKeys.length === 0) return previousItems;
  const nextItems = new Map(previousItems);
  for (const key of removedKeys) nextItems.delete(key);
  for (const each of updatedItems) nextItems.set(keyOf(each), each);
  return nextItems;
}

function childrenOf(actors: ReadonlyMap<string, ShownActor>): ReadonlyMap<string, readonly string[]> {
  const siblingsByParent = new Map<string, ShownActor[]>();
  for (const actor of actors.values()) {
    if (actor.parent === undefined) continue;
    const siblings = siblingsByParent.get(actor.parent);
    if (siblings) siblings.push(actor);
    else siblingsByParent.set(actor.parent, [actor]);
  }
  return new Map(
    [...siblingsByParent].map(([parent, siblings]) => [
      parent,
      siblings.sort((a, b) => a.order - b.order).map(({ path }) => path),
    ]),
  );
}
