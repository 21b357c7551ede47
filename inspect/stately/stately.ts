/**
 * Converts actors and events to the protocol of the Stately inspector. Omits contexts and all fields of events except
 * their types, because the other fields may contain secrets.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { machines } from '../../machines/drawing/charts.ts';
import { stateValueOf } from '../../machines/drawing/stateValue.ts';
import { statePath } from '../../machines/shared/stateMeta.ts';
import { actorPath } from '../../machines/shared/views/actorRefs.ts';
import type { ShownTree } from '../shown.ts';
import { flattenTree } from '../shown.ts';

/** Version of the protocol, from `@statelyai/inspect`. */
const PROTOCOL_VERSION = '0.7.2';
/** ID of the root actor, whose path is empty. */
const ROOT_ID = 'nodeAgent';

interface CommonFields {
  readonly rootId: string;
  readonly sessionId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

interface ShownSnapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly context: Readonly<Record<string, never>>;
}

/** A message that is sent to the inspector. */
export type StatelyEvent = CommonFields &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId?: string;
        readonly definition: string;
        readonly snapshot: ShownSnapshot;
      }
    | { readonly type: '@xstate.event'; readonly event: { readonly type: string }; readonly sourceId?: string }
    | { readonly type: '@xstate.snapshot'; readonly event: { readonly type: string }; readonly snapshot: ShownSnapshot }
  );

/** Describes the existing actors as if each had just been created. Parents come first. */
export const describeActors = (trees: Iterable<ShownTree>, at: number): StatelyEvent[] =>
  [...trees].flatMap(flattenTree).map(({ path, parent, id, machine, state, tags }) => ({
    ...commonFields(path, at),
    type: '@xstate.actor',
    name: id,
    ...(parent === undefined ? {} : { parentId: sessionIdOf(parent) }),
    definition: machineDefinition(machine),
    snapshot: {
      status: tags.includes('broken') ? 'error' : 'active',
      context: {},
      ...(hasStates(machine) && state !== 'broken' ? { value: stateValueOf(state) } : {}),
    },
  }));

/** Converts an inspection event. Returns undefined if the protocol has no equivalent. */
export function toStatelyEvent(event: InspectionEvent, at: number): StatelyEvent | undefined {
  // Safe cast: every actor of the node was created by XState.
  const ref = event.actorRef as AnyActorRef;
  const own = commonFields(actorPath(ref).join('/'), at);
  if (event.type === '@xstate.actor') return { ...own, ...describeNewActor(ref) };
  if (event.type === '@xstate.event') {
    // Safe cast: every actor of the node was created by XState.
    const source = event.sourceRef as AnyActorRef | undefined;
    const sourceId = source && sessionIdOf(actorPath(source).join('/'));
    return {
      ...own,
      type: event.type,
      event: withTypeOnly(event.event),
      ...(sourceId === undefined ? {} : { sourceId }),
    };
  }
  if (event.type !== '@xstate.snapshot') return undefined;
  return { ...own, type: event.type, event: withTypeOnly(event.event), snapshot: toShownSnapshot(event.snapshot) };
}

/** Describes an actor that has no snapshot yet. */
function describeNewActor(ref: AnyActorRef) {
  const parent = ref._parent;
  return {
    type: '@xstate.actor' as const,
    name: ref.id,
    ...(parent === undefined ? {} : { parentId: sessionIdOf(actorPath(parent).join('/')) }),
    definition: machineDefinition(machineIdOf(ref)),
    snapshot: { status: 'active', context: {} },
  };
}

/** Returns the machine's id, or the actor's id if its logic is not a state machine. */
const machineIdOf = (ref: AnyActorRef): string => {
  const { logic }: { logic?: { id?: unknown } } = ref as { logic?: { id?: unknown } };
  return typeof logic?.id === 'string' ? logic.id : ref.id;
};

function toShownSnapshot(snapshot: { readonly status: string; readonly value?: unknown }): ShownSnapshot {
  const { status, value } = snapshot;
  return { status, context: {}, ...(value === undefined ? {} : { value: stateValueOf(statePath(value)) }) };
}

const withTypeOnly = ({ type }: { readonly type: string }) => ({ type });

const commonFields = (path: string, at: number): CommonFields => ({
  rootId: ROOT_ID,
  sessionId: sessionIdOf(path),
  createdAt: String(at),
  id: null,
  _version: PROTOCOL_VERSION,
});

const sessionIdOf = (path: string): string => path || ROOT_ID;

const hasStates = (machine: string): boolean => machines.some(({ id }) => id === machine);

const definitionsByMachine = new Map<string, string>();

/** Serializes the machine's configuration as JSON, without its functions. */
function machineDefinition(name: string): string {
  const cachedDefinition = definitionsByMachine.get(name);
  if (cachedDefinition !== undefined) return cachedDefinition;
  const machine = machines.find(({ id }) => id === name);
  if (machine === undefined) return JSON.stringify({ id: name });
  const definition = JSON.stringify(machine.config, (key, value) => (key === 'meta' ? undefined : value));
  definitionsByMachine.set(name, definition);
  return definition;
}
