/**
 * How an actor reaches those that it does not own. No context or event holds a reference to them: a reference cannot be
 * written down, so whoever was brought back from a recording could not reach anybody.
 */
import type { ActorSystem, ActorSystemInfo, AnyActorRef, EventObject } from 'xstate';
import { lookUp } from '../../base/lookUp.ts';
import type { AdmissionEvent, Ref } from './events.ts';
import type { ActorPath, LimiterEvent } from './slots.ts';

/** Those that serve all pods, under the names by which the actor system knows them. */
interface Served {
  readonly admission: AdmissionEvent;
  readonly startLimiter: LimiterEvent;
  readonly pullLimiter: LimiterEvent;
}

/** The target of a `sendTo`: one that serves all pods. */
export const served =
  <K extends keyof Served>(name: K) =>
  ({ system }: { system: ActorSystem<ActorSystemInfo> }): Ref<Served[K]> =>
    // One that is no more is answered for by nobody: without it the whole node ends.
    system.get(name) as unknown as Ref<Served[K]>;

/** The target of a `sendTo`: the parent, as an actor that takes these events. */
export const parent =
  <E extends EventObject>() =>
  // Every parent takes the events that its children are said to send it.
  ({ self }: { self: AnyActorRef }): Ref<E> =>
    self._parent as unknown as Ref<E>;

/** Where an actor is in its system. */
export function pathOf(ref: AnyActorRef): ActorPath {
  const ids: string[] = [];
  for (let actor: AnyActorRef | undefined = ref; actor?._parent !== undefined; actor = actor._parent) {
    ids.unshift(actor.id);
  }
  return ids;
}

/** The actor at a path in the system of another; undefined when it is not there any more. */
export function actorAt<E extends EventObject>(from: AnyActorRef, path: ActorPath): Ref<E> | undefined {
  let found: AnyActorRef | undefined = from;
  while (found._parent !== undefined) found = found._parent;
  for (const id of path) {
    // Only machines have children.
    const { children }: { children?: Readonly<Record<string, AnyActorRef>> } = found.getSnapshot();
    found = lookUp(children, id);
    if (found === undefined) return undefined;
  }
  return found as unknown as Ref<E>;
}
