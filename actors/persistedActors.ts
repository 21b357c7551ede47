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

/** Copies a value as `JSON.parse(JSON.stringify(value))` does, except that an object that occurs repeatedly is copied once. */
export function plainCopy<T>(value: T): T {
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
  return copied(value) as T;
}

/** Whether JSON has a value: it omits what is undefined, and functions. */
const isWritten = (value: unknown): boolean => value !== undefined && typeof value !== 'function';
