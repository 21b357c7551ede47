/**
 * Tracks when each actor entered its current state. Observes the actors from outside, so the machines need no clock.
 */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { pathOf } from '../../machines/shared/actorRefs.ts';
import { statePath } from '../../machines/shared/stateMeta.ts';

/** The entry of an actor into a state. */
export interface StateChange {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of ids of the actor. */
  readonly actor: string;
  readonly state: string;
}

export interface StateSince {
  readonly state: string;
  readonly since: number;
}

export interface SinceMap {
  /**
   * Must be called when an actor is created. An actor without states counts as being in its only state from then on.
   */
  add(ref: AnyActorRef): void;
  /** Must be called after each transition of an actor. */
  update(ref: AnyActorRef): void;
  /** Returns the time at which the actor entered its current state, in milliseconds since the epoch. */
  since(ref: AnyActorRef): number;
  /** Returns the states of `root` and its descendants by path, as plain data that can initialize another map. */
  statesBelow(root: AnyActorRef): Readonly<Record<string, StateSince>>;
}

/** Calls `onChange` for each state that an actor enters. */
export function createSinceMap(
  clock: Pick<Clock, 'now'>,
  initial: Readonly<Record<string, StateSince>> = {},
  onChange?: (move: StateChange) => void,
): SinceMap {
  const initialByPath = new Map(Object.entries(initial));
  const states = new WeakMap<AnyActorRef, StateSince>();
  return {
    add: (ref) => states.set(ref, takeInitialState(initialByPath, ref) ?? { state: '', since: clock.now() }),
    update: (ref) => {
      // Only machines have states. The snapshots of promises and callbacks have no value.
      const snapshot: { value?: unknown } = ref.getSnapshot();
      if (snapshot.value === undefined) return;
      const state = statePath(snapshot.value);
      if (states.get(ref)?.state === state) return;
      const at = clock.now();
      states.set(ref, { state, since: at });
      onChange?.({ at, actor: pathKey(ref), state });
    },
    since: (ref) => states.get(ref)?.since ?? clock.now(),
    statesBelow: (root) =>
      Object.fromEntries(
        actorsBelow(root).flatMap((ref) => {
          const entry = states.get(ref);
          return entry ? [[pathKey(ref), entry]] : [];
        }),
      ),
  };
}

/**
 * Returns the initial state of the actor and removes it, because it does not apply to a later actor at the same path. A
 * live node starts without initial states.
 */
function takeInitialState(initialByPath: Map<string, StateSince>, ref: AnyActorRef): StateSince | undefined {
  if (initialByPath.size === 0) return undefined;
  const key = pathKey(ref);
  const entry = initialByPath.get(key);
  initialByPath.delete(key);
  return entry;
}

const pathKey = (ref: AnyActorRef): string => pathOf(ref).join('/');

/** Returns the actor and all its descendants. */
function actorsBelow(ref: AnyActorRef): AnyActorRef[] {
  const { children = {} }: { children?: Readonly<Record<string, AnyActorRef>> } = ref.getSnapshot();
  return [ref, ...Object.values(children).flatMap(actorsBelow)];
}
