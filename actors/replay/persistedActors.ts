/** Converts actors to plain data, in which objects shared by several actors remain shared. */
import type { AnyActor, AnyActorRef } from 'xstate';

/**
 * Returns the persisted snapshot of an actor and of all actors below it. XState's own `getPersistedSnapshot` searches
 * each context for actors, so it would search the whole pod once for each container. The contexts of this agent's
 * actors contain no actors.
 */
export function persistedActor(ref: AnyActorRef): object {
  // Safe cast: every actor of the agent was created by XState.
  const actor = ref as AnyActor;
  const snapshot: { readonly context?: unknown; readonly children?: ChildActors } = actor.getSnapshot();
  const { context, children } = snapshot;
  if (context === undefined || children === undefined) return actor.getPersistedSnapshot();
  const persistedSnapshot = actor.logic.getPersistedSnapshot({ ...snapshot, context: {}, children: {} });
  const persistedChildren = Object.entries(children).map(([id, child]) => [id, persistedChild(child)]);
  return { ...persistedSnapshot, context, children: Object.fromEntries(persistedChildren) };
}

type ChildActors = Readonly<Record<string, AnyActor>>;

/**
 * Returns a child in XState's persisted form. `syncSnapshot` is omitted, because the actors of this agent do not send
 * their snapshots to their parents.
 */
const persistedChild = (child: AnyActor): object => ({
  snapshot: persistedActor(child),
  src: child.src,
  systemId: child.systemId,
});

/** The result of `persistedActor`, or a part of it. */
interface PersistedValue {
  readonly children?: Readonly<Record<string, { readonly snapshot: PersistedValue }>>;
}

/**
 * Copies persisted actors in one step per actor, by calling `copy` for each part. This allows copying a node with
 * thousands of actors over several turns of the event loop.
 */
export function* copiedActors(actor: object, copy: <T>(part: T) => T): Generator<void, object> {
  const { children, ...actorFields }: PersistedValue = actor;
  const ownCopy = copy(actorFields);
  yield;
  if (children === undefined) return ownCopy;
  const copiedChildren: [string, object][] = [];
  for (const [id, { snapshot, ...attributes }] of Object.entries(children)) {
    copiedChildren.push([id, { snapshot: yield* copiedActors(snapshot, copy), ...copy(attributes) }]);
  }
  return { ...ownCopy, children: Object.fromEntries(copiedChildren) };
}

/**
 * Returns a function that copies values like `JSON.parse(JSON.stringify(value))`, except that an object that occurs
 * repeatedly, even in different values, is copied only once.
 */
export function plainCopier(): <T>(value: T) => T {
  const copiesByOriginal = new Map<object, unknown>();
  const copyValue = (original: unknown): unknown => {
    if (typeof original === 'number') return Number.isFinite(original) ? original : null;
    if (typeof original !== 'object' || original === null) return original;
    const existing = copiesByOriginal.get(original);
    if (existing !== undefined) return existing;
    const copy = Array.isArray(original)
      ? original.map((item: unknown) => (isJsonValue(item) ? copyValue(item) : null))
      : Object.fromEntries(
          Object.entries(original).flatMap(([key, item]) => (isJsonValue(item) ? [[key, copyValue(item)]] : [])),
        );
    copiesByOriginal.set(original, copy);
    return copy;
  };
  // Safe cast: a copy has the type of the original, because only plain data is copied.
  return <T>(value: T) => copyValue(value) as T;
}

/** Whether `JSON.stringify` includes a value. It omits undefined and functions. */
const isJsonValue = (value: unknown): boolean => value !== undefined && typeof value !== 'function';
