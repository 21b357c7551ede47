/**
 * Sets up the environment of an actor under test: real limiters, a real admission, and an actor that records its
 * reports.
 */
import {
  type Actor,
  type ActorLogic,
  type ActorOptions,
  type ActorRefFrom,
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  type EventObject,
  type InspectionEvent,
  type Snapshot,
} from 'xstate';
import { eventListener } from '../../../actors/events/eventSink.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import type { AdmissionInput } from '../../../machines/admission/context.ts';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import { admissionNode } from '../../../machines/node/context.ts';
import type { Ref } from '../../../machines/shared/events/events.ts';
import type { ActorPath } from '../../../machines/shared/events/slots.ts';
import { actorPath } from '../../../machines/shared/views/actorRefs.ts';

export const START = Date.UTC(2026, 0, 1);

/** Records every event that it receives. */
interface Ear<E extends EventObject> {
  readonly ref: Ref<E>;
  heard(): readonly E[];
}

/** Contains the children of an ear by ID, because actors are looked up by their paths. */
type EarSnapshot = Snapshot<undefined> & { readonly children: Record<string, AnyActorRef> };

/**
 * Creates an actor that records every event it receives. It is the root of a system, or a child of another ear under
 * this ID.
 */
export function ear<E extends EventObject>(parent?: AnyActorRef, id?: string): Ear<E> {
  const heard: E[] = [];
  const snapshot: EarSnapshot = { status: 'active', output: undefined, error: undefined, children: {} };
  const logic: ActorLogic<EarSnapshot, E> = {
    transition: (same, event) => {
      // Completions and failures of children are not recorded.
      if (!event.type.startsWith('xstate.')) heard.push(event);
      return same;
    },
    getInitialSnapshot: () => snapshot,
    getPersistedSnapshot: () => snapshot,
  };
  const actor = parent && id ? childOf(parent, logic, { id, systemId: id }) : createActor(logic);
  actor.start();
  // Safe cast: the actor accepts every event.
  return { ref: actor as unknown as Ref<E>, heard: () => [...heard] };
}

/** Creates a sibling of an actor that can send requests to it and records the responses. */
export function asker<E extends EventObject>(
  beside: AnyActorRef,
): { readonly holder: ActorPath; heard(): readonly E[] } {
  const parent = beside._parent;
  if (parent === undefined) throw new Error('nobody is beside the root of a system');
  const { children }: EarSnapshot = parent.getSnapshot();
  const { ref, heard } = ear<E>(parent, `asker/${Object.keys(children).length}`);
  return { holder: actorPath(ref), heard };
}

/** Creates an actor as the child of an ear. The actor reports to the ear and is found by its path. */
export function childOf<L extends AnyActorLogic>(
  parent: AnyActorRef,
  logic: L,
  options: ActorOptions<L> & { readonly id: string },
): Actor<L> {
  const { children }: EarSnapshot = parent.getSnapshot();
  if (options.inspect) parent.system.inspect(options.inspect);
  // Safe cast: the options of the caller have the required fields.
  const actor = createActor(logic, { ...options, parent } as ActorOptions<L> & Record<string, never>) as Actor<L>;
  children[options.id] = actor;
  return actor;
}

/** Records the events of an actor and of all actors below it. `told` returns those since the last call. */
export function eventEar(): {
  readonly inspect: (event: InspectionEvent) => void;
  told(): string[];
  toldOf(): string[];
} {
  const events: RecordedEvent[] = [];
  const listen = eventListener((event) => void events.push(event), { ...systemClock, now: () => START });
  return {
    inspect: (event) => {
      if (event.type === '@xstate.actor') listen(event.actorRef as AnyActorRef);
    },
    told: () => events.splice(0).map(sentence),
    /** Like `told`, but each text starts with the container that it concerns, or with `pod`. */
    toldOf: () => events.splice(0).map((event) => `${event.involved.fieldPath ?? 'pod'} ${sentence(event)}`),
  };
}

const sentence = ({ eventType, reason, message }: RecordedEvent): string => `${eventType} ${reason}: ${message}`;

/** Creates a limiter that the actors of a system look up under this ID. */
export function limiter(capacity: number, system: AnyActorRef = ear().ref, id = 'limiter') {
  return childOf(system, limiterMachine, { id, systemId: id, input: { capacity } }).start();
}

const ROOMY = { cpuMillis: 4_000, memoryBytes: 8 * 2 ** 30, pods: 110 };

/** Creates the admission of a node with this capacity. `parent` receives the pods to preempt for others. */
export function admission(
  capacity: Capacity = ROOMY,
  parent: AnyActorRef = ear().ref,
  node: Partial<AdmissionNode> = {},
  managers: Pick<AdmissionInput, 'cpus' | 'devices'> = {},
) {
  const known = { ...admissionNode({ nodeName: 'node' }), ...node };
  const id = 'admission';
  const { cpus, devices } = managers;
  if (cpus !== undefined) ear(parent, 'cpus');
  if (devices !== undefined) ear(parent, 'devices');
  const extra = Object.fromEntries(devices?.pool.resources.map((each) => [each.name, each.devices.length]) ?? []);
  const input = { capacity: { ...capacity, extra }, node: known, ...managers };
  return childOf(parent, admissionMachine, { id, systemId: id, input }).start();
}

/** Returns the keys that hold a slot of a limiter, and those that wait for one. */
export function queueOf(ref: ActorRefFrom<typeof limiterMachine>): { held: string[]; queue: string[] } {
  const { heldSlots, queue } = ref.getSnapshot().context;
  return { held: heldSlots.map(({ key }) => key), queue: queue.map(({ key }) => key) };
}
