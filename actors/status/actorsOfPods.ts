/** Which pod an actor belongs to, and whether what it does can change the pod's status. */
import type { AnyActorRef } from 'xstate';
import { type ProbeRef, resultOf } from '../../machines/probe/view.ts';
import type { PodRef } from '../../machines/shared/views.ts';

/** The pod that an actor belongs to: itself, or the one that it is a child of. */
export function podOf(ref: AnyActorRef): PodRef | undefined {
  for (let actor: AnyActorRef | undefined = ref; actor !== undefined; actor = actor._parent) {
    // The prefix of an id says of which machine its actor is.
    if (actor.id.startsWith('pod/')) return actor as PodRef;
  }
  return undefined;
}

/** Whether what an actor has come to can change a status: only machines are looked at, and of a probe its result alone. */
export function isTold(results: WeakMap<AnyActorRef, string>, ref: AnyActorRef): boolean {
  const { value }: { value?: unknown } = ref.getSnapshot();
  if (value === undefined || !ref.id.startsWith('probe/')) return value !== undefined;
  // The prefix of an id says of which machine its actor is.
  const result = resultOf(ref as ProbeRef);
  if (results.get(ref) === result) return false;
  results.set(ref, result);
  return true;
}
