/** Maps actors to pods, and decides which of their transitions can change a pod's status. */
import type { AnyActorRef } from 'xstate';
import { type ProbeRef, probeState } from '../../machines/probe/view.ts';
import type { PodRef } from '../../machines/shared/views/views.ts';

/** Returns the pod that is the actor itself or one of its ancestors. */
export function podOfActor(ref: AnyActorRef): PodRef | undefined {
  for (let actor: AnyActorRef | undefined = ref; actor !== undefined; actor = actor._parent) {
    // Safe cast: the prefix of an id identifies the actor's machine.
    if (actor.id.startsWith('pod/')) return actor as PodRef;
  }
  return undefined;
}

/**
 * Whether a transition of the actor can change a pod's status. The actor must be a machine. If it is a probe, its
 * result must also have changed.
 */
export function affectsStatus(results: WeakMap<AnyActorRef, string>, ref: AnyActorRef): boolean {
  const { value }: { value?: unknown } = ref.getSnapshot();
  if (value === undefined || !ref.id.startsWith('probe/')) return value !== undefined;
  // Safe cast: the prefix of an id identifies the actor's machine.
  const result = probeState(ref as ProbeRef);
  if (results.get(ref) === result) return false;
  results.set(ref, result);
  return true;
}
