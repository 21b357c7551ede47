/** Since when each actor is in its present state: seen from outside, so that the machines need no clock. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { pathOf } from '../../machines/shared/actorRefs.ts';
import { statePath } from '../../machines/shared/stateMeta.ts';

/** An actor has come into a state. */
export interface Move {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Its path of ids. */
  readonly actor: string;
  readonly state: string;
}

/** The state that an actor is in, and since when. */
export interface Stay {
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
  /** All that it knows of these actors and those below them, by path: plain data, with which another one begins. */
  below(root: AnyActorRef): Readonly<Record<string, Stay>>;
}

/** `onMove` is told of each state that an actor comes into. */
export function createSinceMap(
  clock: Pick<Clock, 'now'>,
  known: Readonly<Record<string, Stay>> = {},
  onMove?: (move: Move) => void,
): SinceMap {
  const earlier = new Map(Object.entries(known));
  const stays = new WeakMap<AnyActorRef, Stay>();
  return {
    begin: (ref) => stays.set(ref, stayFrom(earlier, ref) ?? { state: '', since: clock.now() }),
    note: (ref) => {
      // Only machines have states: the snapshots of promises and callbacks have no value.
      const snapshot: { value?: unknown } = ref.getSnapshot();
      if (snapshot.value === undefined) return;
      const state = statePath(snapshot.value);
      if (stays.get(ref)?.state === state) return;
      const at = clock.now();
      stays.set(ref, { state, since: at });
      onMove?.({ at, actor: keyOf(ref), state });
    },
    of: (ref) => stays.get(ref)?.since ?? clock.now(),
    below: (root) =>
      Object.fromEntries(
        actorsBelow(root).flatMap((ref) => {
          const stay = stays.get(ref);
          return stay ? [[keyOf(ref), stay]] : [];
        }),
      ),
  };
}

/** What was known of the actor at a path; the next one at it is another. A live node begins without any. */
function stayFrom(earlier: Map<string, Stay>, ref: AnyActorRef): Stay | undefined {
  if (earlier.size === 0) return undefined;
  const key = keyOf(ref);
  const stay = earlier.get(key);
  earlier.delete(key);
  return stay;
}

const keyOf = (ref: AnyActorRef): string => pathOf(ref).join('/');

/** An actor, and all below it. */
function actorsBelow(ref: AnyActorRef): AnyActorRef[] {
  // Only machines have children.
  const { children = {} }: { children?: Readonly<Record<string, AnyActorRef>> } = ref.getSnapshot();
  return [ref, ...Object.values(children).flatMap(actorsBelow)];
}
