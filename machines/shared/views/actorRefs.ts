/**
 * Resolves names and paths to actors that the caller does not own. Contexts and events contain no actor references,
 * because actor references cannot be recorded and a replayed actor could not use them.
 */
import type { ActorSystem, ActorSystemInfo, AnyActorRef, EventObject } from 'xstate';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { DevicesEvent } from '../events/deviceEvents.ts';
import type { AdmissionEvent, Ref } from '../events/events.ts';
import type { ActorPath, LimiterEvent } from '../events/slots.ts';
import type { CpusEvent, MemoryManagerEvent } from '../events/upkeepEvents.ts';

/** Actors that serve all pods, by their system IDs. */
interface SharedActors {
  readonly admission: AdmissionEvent;
  /** Exists only if the node assigns exclusive CPUs. */
  readonly cpus: CpusEvent;
  /** Exists only if the node assigns memory on specific NUMA nodes to containers. */
  readonly memoryManager: MemoryManagerEvent;
  /** Exists only if the node has device plugins. */
  readonly devices: DevicesEvent;
  readonly startLimiter: LimiterEvent;
  readonly pullLimiter: LimiterEvent;
}

/** Returns a `sendTo` target that resolves to an actor that serves all pods. */
export const sharedActor =
  <K extends keyof SharedActors>(name: K) =>
  ({ system }: { system: ActorSystem<ActorSystemInfo> }): Ref<SharedActors[K]> =>
    // Safe cast: the actor exists, because the node stops when one of the shared actors fails.
    system.get(name) as unknown as Ref<SharedActors[K]>;

/** Returns a `sendTo` target that resolves to the parent. Its type is limited to the events that the child sends. */
export const parent =
  <E extends EventObject>() =>
  // Safe cast: every parent accepts the events that its children declare for it.
  ({ self }: { self: AnyActorRef }): Ref<E> =>
    self._parent as unknown as Ref<E>;

export function actorPath(ref: AnyActorRef): ActorPath {
  const ids: string[] = [];
  for (let actor: AnyActorRef | undefined = ref; actor?._parent !== undefined; actor = actor._parent) {
    ids.unshift(actor.id);
  }
  return ids;
}

/** Returns the actor at a path in the system of another actor, or undefined if it no longer exists. */
export function actorAt<E extends EventObject>(from: AnyActorRef, path: ActorPath): Ref<E> | undefined {
  let actor: AnyActorRef | undefined = from;
  while (actor._parent !== undefined) actor = actor._parent;
  for (const id of path) {
    // Only machines have children.
    const { children }: { children?: Readonly<Record<string, AnyActorRef>> } = actor.getSnapshot();
    actor = lookUp(children, id);
    if (actor === undefined) return undefined;
  }
  return actor as unknown as Ref<E>;
}
