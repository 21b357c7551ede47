/** Actors as plain data, in which an object that several actors have in common is one object. */
import type { AnyActor, AnyActorRef } from 'xstate';

/**
 * Returns the persisted snapshot of an actor and of all actors below it. XState's own `getPersistedSnapshot` searches each
 * context for actors, so that each container of a pod would search the whole pod. No context here contains an actor.
 */
export function persistedActor(ref: AnyActorRef): object {
  // Every actor here is one of XState's own.
  const actor = ref as AnyActor;
  const snapshot: { readonly context?: unknown; readonly children?: Children } = actor.getSnapshot();
  const { context, children } = snapshot;
  if (context === undefined || children === undefined) return actor.getPersistedSnapshot();
  const shell = actor.logic.getPersistedSnapshot({ ...snapshot, context: {}, children: {} });
  const below = Object.entries(children).map(([id, child]) => [id, persistedChild(child)]);
  return { ...shell, context, children: Object.fromEntries(below) };
}

type Children = Readonly<Record<string, AnyActor>>;

/** A child as XState persists it. No actor here sends its snapshots to its parent. */
const persistedChild = (child: AnyActor): object => ({
  snapshot: persistedActor(child),
  src: child.src,
  systemId: child.systemId,
});

/** Actors as `persistedActor` returns them, or a part of them. */
interface Persisted {
  readonly children?: Readonly<Record<string, { readonly snapshot: Persisted }>>;
}

/**
 * Copies persisted actors with a function for one part, in one step for each actor. A node with thousands of actors is copied
 * over several turns of the event loop.
 */
export function* copiedActors(actor: object, copy: <T>(part: T) => T): Generator<void, object> {
  const { children, ...own }: Persisted = actor;
  const ownCopy = copy(own);
  yield;
  if (children === undefined) return ownCopy;
  const below: [string, object][] = [];
  for (const [id, { snapshot, ...how }] of Object.entries(children)) {
    below.push([id, { snapshot: yield* copiedActors(snapshot, copy), ...copy(how) }]);
  }
  return { ...ownCopy, children: Object.fromEntries(below) };
}

/**
 * Returns a function that copies values as `JSON.parse(JSON.stringify(value))` does, except that an object that occurs
 * repeatedly in any of them is copied once.
 */
export function plainCopier(): <T>(value: T) => T {
  const copies = new Map<object, unknown>();
  const copied = (each: unknown): unknown => {
    if (typeof each === 'number') return Number.isFinite(each) ? each : null;
    if (typeof each !== 'object' || each === null) return each;
    const existing = copies.get(each);
    if (existing !== undefined) return existing;
    const copy = Array.isArray(each)
      ? each.map((item: unknown) => (isWritten(item) ? copied(item) : null))
      : Object.fromEntries(
          Object.entries(each).flatMap(([key, item]) => (isWritten(item) ? [[key, copied(item)]] : [])),
        );
    copies.set(each, copy);
    return copy;
  };
  // A copy has the type of the original, as all that is copied here is plain data.
  return <T>(value: T) => copied(value) as T;
}

/** Whether JSON has a value: it omits what is undefined, and functions. */
const isWritten = (value: unknown): boolean => value !== undefined && typeof value !== 'function';
