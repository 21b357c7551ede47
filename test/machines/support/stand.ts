/** What stands around an actor under test: the real limiters and the real admission, and somebody who hears its reports. */
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

/** Keeps every event that it is sent. */
interface Ear<E extends EventObject> {
  readonly ref: Ref<E>;
  heard(): readonly E[];
}

/** The children of an ear, by id: as those of a machine they are found by their paths. */
type EarSnapshot = Snapshot<undefined> & { readonly children: Record<string, AnyActorRef> };

/** An actor that keeps every event that it is sent: the root of a system, or a child of another ear under this id. */
export function ear<E extends EventObject>(parent?: AnyActorRef, id?: string): Ear<E> {
  const heard: E[] = [];
  const snapshot: EarSnapshot = { status: 'active', output: undefined, error: undefined, children: {} };
  const logic: ActorLogic<EarSnapshot, E> = {
    transition: (same, event) => {
      // How its children end it does not mind.
      if (!event.type.startsWith('xstate.')) heard.push(event);
      return same;
    },
    getInitialSnapshot: () => snapshot,
    getPersistedSnapshot: () => snapshot,
  };
  const actor = parent && id ? childOf(parent, logic, { id, systemId: id }) : createActor(logic);
  actor.start();
  // It takes whatever it is sent.
  return { ref: actor as unknown as Ref<E>, heard: () => [...heard] };
}

/** Somebody beside an actor who asks it for something, and the answers. */
export function asker<E extends EventObject>(
  beside: AnyActorRef,
): { readonly holder: ActorPath; heard(): readonly E[] } {
  const parent = beside._parent;
  if (parent === undefined) throw new Error('nobody is beside the root of a system');
  const { children }: EarSnapshot = parent.getSnapshot();
  const { ref, heard } = ear<E>(parent, `asker/${Object.keys(children).length}`);
  return { holder: actorPath(ref), heard };
}

/** Makes an actor as the child of an ear: it reports to that one, and is found by its path. */
export function childOf<L extends AnyActorLogic>(
  parent: AnyActorRef,
  logic: L,
  options: ActorOptions<L> & { readonly id: string },
): Actor<L> {
  const { children }: EarSnapshot = parent.getSnapshot();
  if (options.inspect) parent.system.inspect(options.inspect);
  // What is required of the options was required of the caller's.
  const actor = createActor(logic, { ...options, parent } as ActorOptions<L> & Record<string, never>) as Actor<L>;
  children[options.id] = actor;
  return actor;
}

/** Hears what an actor and all below it emit; `told` gives what came since it was last asked. */
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
    /** With whom it is about before it. */
    toldOf: () => events.splice(0).map((event) => `${event.involved.fieldPath ?? 'pod'} ${sentence(event)}`),
  };
}

const sentence = ({ eventType, reason, message }: RecordedEvent): string => `${eventType} ${reason}: ${message}`;

/** A limiter that the actors of a system know by this name. */
export function limiter(capacity: number, system: AnyActorRef = ear().ref, id = 'limiter') {
  return childOf(system, limiterMachine, { id, systemId: id, input: { capacity } }).start();
}

const ROOMY = { cpuMillis: 4_000, memoryBytes: 8 * 2 ** 30, pods: 110 };

/** Admission to a node of this capacity; `parent` hears which pods are to end for others. */
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

/** Who holds a slot of a limiter, and who waits for one. */
export function queueOf(ref: ActorRefFrom<typeof limiterMachine>): { held: string[]; queue: string[] } {
  const { heldSlots, queue } = ref.getSnapshot().context;
  return { held: heldSlots.map(({ key }) => key), queue: queue.map(({ key }) => key) };
}
