/**
 * Tracks when each actor entered its current state. Observes the actors from outside, so the machines need no clock.
 */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import { statePath } from '../../machines/shared/stateMeta.ts';
import { actorPath } from '../../machines/shared/views/actorRefs.ts';

/** The entry of an actor into a state. */
export interface StateChange {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the actor, e.g. `pod/<uid>`. */
  readonly actor: string;
  readonly state: string;
}

export interface StateEntry {
  readonly state: string;
  readonly since: number;
}

export interface StateEntryMap {
  /**
   * Must be called when an actor is created. An actor that is not a state machine is considered to be in a single
   * state, which it enters at this time.
   */
  add(ref: AnyActorRef): void;
  /** Must be called after each transition of an actor. */
  update(ref: AnyActorRef): void;
  /** Returns the time at which the actor entered its current state, in milliseconds since the epoch. */
  enteredAt(ref: AnyActorRef): number;
  /** Returns the states of `root` and its descendants by path, as plain data that can initialize another map. */
  entriesBelow(root: AnyActorRef): Readonly<Record<string, StateEntry>>;
}

/** Creates a map that calls `onChange` for each state that an actor enters. */
export function createStateEntryMap(
  clock: Pick<Clock, 'now'>,
  initialEntries: Readonly<Record<string, StateEntry>> = {},
  onChange?: (move: StateChange) => void,
): StateEntryMap {
  const initialByPath = new Map(Object.entries(initialEntries));
  const stateEntries = new WeakMap<AnyActorRef, StateEntry>();
  return {
    add: (ref) => stateEntries.set(ref, takeInitialEntry(initialByPath, ref) ?? { state: '', since: clock.now() }),
    update: (ref) => {
      // Only machines have states. The snapshots of promises and callbacks have no value.
      const snapshot: { value?: unknown } = ref.getSnapshot();
      if (snapshot.value === undefined) return;
      const state = statePath(snapshot.value);
      if (stateEntries.get(ref)?.state === state) return;
      const at = clock.now();
      stateEntries.set(ref, { state, since: at });
      onChange?.({ at, actor: pathKey(ref), state });
    },
    enteredAt: (ref) => stateEntries.get(ref)?.since ?? clock.now(),
    entriesBelow: (root) =>
      Object.fromEntries(
        withDescendants(root).flatMap((ref) => {
          const stateEntry = stateEntries.get(ref);
          return stateEntry ? [[pathKey(ref), stateEntry]] : [];
        }),
      ),
  };
}

/**
 * Removes and returns the initial state of the actor, so that the state does not apply to a later actor at the same
 * path. A live node starts without initial states.
 */
function takeInitialEntry(initialByPath: Map<string, StateEntry>, ref: AnyActorRef): StateEntry | undefined {
  if (initialByPath.size === 0) return undefined;
  const key = pathKey(ref);
  const initialEntry = initialByPath.get(key);
  initialByPath.delete(key);
  return initialEntry;
}

const pathKey = (ref: AnyActorRef): string => actorPath(ref).join('/');

function withDescendants(ref: AnyActorRef): AnyActorRef[] {
  const { children = {} }: { children?: Readonly<Record<string, AnyActorRef>> } = ref.getSnapshot();
  return [ref, ...Object.values(children).flatMap(withDescendants)];
}
