/** The state of the node at one time, built from a snapshot and the subsequent frames. It is immutable. */
import type { Frame, ShownActor, ShownNode, ShownPod, Snapshot } from '../../inspect/protocol.ts';

export interface World {
  readonly at: number;
  readonly node: ShownNode;
  readonly pods: ReadonlyMap<string, ShownPod>;
  readonly actors: ReadonlyMap<string, ShownActor>;
  /** Paths of an actor's children in order, keyed by the actor's path. */
  readonly children: ReadonlyMap<string, readonly string[]>;
}

export function worldOf({ at, node, pods, actors }: Snapshot): World {
  const all = new Map(actors.map((actor) => [actor.path, actor]));
  return {
    at,
    node,
    actors: all,
    children: childrenOf(all),
    pods: new Map(pods.map((pod) => [pod.uid, pod])),
  };
}

/** Applies a frame to a world. Everything that the frame does not mention stays the same. */
export function withFrame(world: World, { at, node, pods, podsGone, actors, actorsGone }: Frame): World {
  const nextPods = changed(world.pods, pods, ({ uid }) => uid, podsGone);
  const nextActors = changed(world.actors, actors, ({ path }) => path, actorsGone);
  const isSameFamily =
    actorsGone.length === 0 && actors.every(({ path, order }) => world.actors.get(path)?.order === order);
  return {
    at,
    node: node ?? world.node,
    pods: nextPods,
    actors: nextActors,
    children: isSameFamily ? world.children : childrenOf(nextActors),
  };
}

function changed<T>(
  known: ReadonlyMap<string, T>,
  news: readonly T[],
  keyOf: (each: T) => string,
  gone: readonly string[],
): ReadonlyMap<string, T> {
  if (news.length === 0 && gone.length === 0) return known;
  const next = new Map(known);
  for (const key of gone) next.delete(key);
  for (const each of news) next.set(keyOf(each), each);
  return next;
}

function childrenOf(actors: ReadonlyMap<string, ShownActor>): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, ShownActor[]>();
  for (const actor of actors.values()) {
    if (actor.parent === undefined) continue;
    const family = families.get(actor.parent);
    if (family) family.push(actor);
    else families.set(actor.parent, [actor]);
  }
  return new Map(
    [...families].map(([parent, family]) => [
      parent,
      family.sort((one, other) => one.order - other.order).map(({ path }) => path),
    ]),
  );
}
