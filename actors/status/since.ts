/** Since when each actor is in its present state: seen from outside, so that the machines need no clock. */
import type { AnyActorRef } from 'xstate';
import { statePath } from '../../machines/shared/stateMeta.ts';
import type { Clock } from '../clock.ts';

interface Stay {
  readonly state: string;
  readonly since: number;
}

export interface SinceMap {
  /** To be called when an actor is made: one without states is in its only one from then on. */
  begin(ref: AnyActorRef): void;
  /** To be called after each transition of an actor. */
  note(ref: AnyActorRef): void;
  /** Milliseconds since the epoch. */
  of(ref: AnyActorRef): number;
}

export function createSinceMap(clock: Pick<Clock, 'now'>): SinceMap {
  const stays = new WeakMap<AnyActorRef, Stay>();
  return {
    begin: (ref) => void stays.set(ref, { state: '', since: clock.now() }),
    note: (ref) => {
      // Only machines have states: the snapshots of promises and callbacks have no value.
      const snapshot: { value?: unknown } = ref.getSnapshot();
      if (snapshot.value === undefined) return;
      const state = statePath(snapshot.value);
      if (stays.get(ref)?.state !== state) stays.set(ref, { state, since: clock.now() });
    },
    of: (ref) => stays.get(ref)?.since ?? clock.now(),
  };
}
