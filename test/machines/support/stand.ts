/** What stands around an actor under test: the real limiters and the real admission, and somebody who hears its reports. */
import {
  type ActorRefFrom,
  type AnyActorRef,
  createActor,
  type EventObject,
  fromTransition,
  type InspectionEvent,
} from 'xstate';
import { systemClock } from '../../../actors/clock.ts';
import { eventListener } from '../../../actors/events/eventSink.ts';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import { admissionNode } from '../../../machines/node/context.ts';
import type { AdmissionFact, Ref } from '../../../machines/shared/events.ts';
import type { AdmissionNode } from '../../../pod/admission/node.ts';
import type { RecordedEvent } from '../../../pod/events/recordedEvent.ts';
import type { Capacity } from '../../../pod/resources/requests.ts';

export const START = Date.UTC(2026, 0, 1);

/** An actor that keeps every event that it is sent. */
export function ear<E extends EventObject>(): { readonly ref: Ref<E>; heard(): readonly E[] } {
  const actor = createActor(fromTransition((events: readonly E[], event: E) => [...events, event], []));
  actor.start();
  // It takes whatever it is sent.
  return { ref: actor as unknown as Ref<E>, heard: () => actor.getSnapshot().context };
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

export function limiter(capacity: number): ActorRefFrom<typeof limiterMachine> {
  return createActor(limiterMachine, { input: { capacity } }).start();
}

const ROOMY = { cpuMillis: 4_000, memoryBytes: 8 * 2 ** 30, pods: 110 };

/** admission of a node of this capacity; `parent` hears which pods are to end for others. */
export function admission(
  capacity: Capacity = ROOMY,
  parent = ear<AdmissionFact>().ref,
  node: Partial<AdmissionNode> = {},
) {
  const known = { ...admissionNode({ nodeName: 'node' }), ...node };
  return createActor(admissionMachine, { input: { capacity, parent, node: known } }).start();
}

/** Who holds a slot of a limiter, and who waits for one. */
export function queueOf(ref: ActorRefFrom<typeof limiterMachine>): { held: string[]; queue: string[] } {
  const { held, queue } = ref.getSnapshot().context;
  return { held: held.map(({ key }) => key), queue: queue.map(({ key }) => key) };
}
