/**
 * The actors in the protocol of the Stately inspector, for tools that speak it. Events go by their type alone and contexts
 * are left out: what they hold may be secret.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { machines } from '../machines/drawing/charts.ts';
import { stateValueOf } from '../machines/drawing/stateValue.ts';
import { pathOf } from '../machines/shared/actorRefs.ts';
import { statePath } from '../machines/shared/stateMeta.ts';
import type { ShownTree } from './shown.ts';
import { flattened } from './shown.ts';

/** The version of the protocol: that of `@statelyai/inspect`. */
const VERSION = '0.7.2';
/** The root's path is empty, and so would be its id. */
const ROOT = 'nodeAgent';

interface Common {
  readonly rootId: string;
  readonly sessionId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

interface SnapshotText {
  readonly status: string;
  readonly value?: unknown;
  readonly context: Readonly<Record<string, never>>;
}

/** What the inspector is told. */
export type StatelyEvent = Common &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId?: string;
        readonly definition: string;
        readonly snapshot: SnapshotText;
      }
    | { readonly type: '@xstate.event'; readonly event: { readonly type: string }; readonly sourceId?: string }
    | { readonly type: '@xstate.snapshot'; readonly event: { readonly type: string }; readonly snapshot: SnapshotText }
  );

/** The actors that there are, as if each were made now: parents first. */
export const actorsNow = (trees: Iterable<ShownTree>, at: number): StatelyEvent[] =>
  [...trees].flatMap(flattened).map(({ path, parent, id, machine, state, tags }) => ({
    ...common(path, at),
    type: '@xstate.actor',
    name: id,
    ...(parent === undefined ? {} : { parentId: idOf(parent) }),
    definition: definitionOf(machine),
    snapshot: {
      status: tags.includes('broken') ? 'error' : 'active',
      context: {},
      ...(hasStates(machine) && state !== 'broken' ? { value: stateValueOf(state) } : {}),
    },
  }));

/** What an inspection event says; undefined where the protocol has no word for it. */
export function statelyEvent(event: InspectionEvent, at: number): StatelyEvent | undefined {
  // Every actor here is one of xstate's own.
  const ref = event.actorRef as AnyActorRef;
  const own = common(pathOf(ref).join('/'), at);
  if (event.type === '@xstate.actor') return { ...own, ...madeActor(ref) };
  if (event.type === '@xstate.event') {
    // The same as above.
    const source = event.sourceRef as AnyActorRef | undefined;
    const sourceId = source && idOf(pathOf(source).join('/'));
    return { ...own, type: event.type, event: typeOf(event.event), ...(sourceId === undefined ? {} : { sourceId }) };
  }
  if (event.type !== '@xstate.snapshot') return undefined;
  return { ...own, type: event.type, event: typeOf(event.event), snapshot: shownSnapshot(event.snapshot) };
}

/** Its snapshot is not there yet. */
function madeActor(ref: AnyActorRef) {
  const parent = ref._parent;
  return {
    type: '@xstate.actor' as const,
    name: ref.id,
    ...(parent === undefined ? {} : { parentId: idOf(pathOf(parent).join('/')) }),
    definition: definitionOf(machineOf(ref)),
    snapshot: { status: 'active', context: {} },
  };
}

/** Only machines have an id in their logic. */
const machineOf = (ref: AnyActorRef): string => {
  const { logic }: { logic?: { id?: unknown } } = ref as { logic?: { id?: unknown } };
  return typeof logic?.id === 'string' ? logic.id : ref.id;
};

function shownSnapshot(snapshot: { readonly status: string; readonly value?: unknown }): SnapshotText {
  const { status, value } = snapshot;
  return { status, context: {}, ...(value === undefined ? {} : { value: stateValueOf(statePath(value)) }) };
}

const typeOf = ({ type }: { readonly type: string }) => ({ type });

const common = (path: string, at: number): Common => ({
  rootId: ROOT,
  sessionId: idOf(path),
  createdAt: String(at),
  id: null,
  _version: VERSION,
});

const idOf = (path: string): string => path || ROOT;

const hasStates = (machine: string): boolean => machines.some(({ id }) => id === machine);

const definitions = new Map<string, string>();

/** The machine's configuration without its functions. */
function definitionOf(name: string): string {
  const known = definitions.get(name);
  if (known !== undefined) return known;
  const machine = machines.find(({ id }) => id === name);
  if (machine === undefined) return JSON.stringify({ id: name });
  const definition = JSON.stringify(machine.config, (key, value) => (key === 'meta' ? undefined : value));
  definitions.set(name, definition);
  return definition;
}
