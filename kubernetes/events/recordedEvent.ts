/** Defines the events about a pod or the node that are published as core/v1 Events. */
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerRole } from '../status/view.ts';

export type EventType = 'Normal' | 'Warning';

/** Reason and message of an event, as in the kubelet. The type defaults to `Normal`. */
export interface EventMessage {
  readonly eventType?: EventType;
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The events of a transition: one, several or none. */
export type EventMessages = EventMessage | readonly EventMessage[];

/** Creates an event message of type Warning. */
export const warning = (reason: string, message: string): EventMessage => ({ eventType: 'Warning', reason, message });

/** Reference from an event to its object. */
export interface InvolvedObject {
  readonly kind: 'Pod' | 'Node';
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** Resource version of the object. Undefined if the object is not from an API server. */
  readonly resourceVersion?: string;
  /** Field path of a container in a pod, e.g. `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** A Kubernetes event that a state machine emits. The receiver adds the timestamp. */
export interface RecordedEvent {
  readonly type: 'event.recorded';
  readonly eventType: EventType;
  readonly reason: string;
  readonly message: string;
  readonly involved: InvolvedObject;
  /** Annotations of the event. Undefined if it has none. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export const recordedEvent = (
  involved: InvolvedObject,
  { eventType = 'Normal', reason, message, annotations }: EventMessage,
): RecordedEvent => ({
  type: 'event.recorded',
  eventType,
  reason,
  message,
  involved,
  ...(annotations === undefined ? {} : { annotations }),
});

/** Creates the Kubernetes events that a transition of a state machine emits about one object. */
export const recordedEvents = (involved: InvolvedObject, messages: EventMessages): RecordedEvent[] =>
  ('reason' in messages ? [messages] : messages).map((message) => recordedEvent(involved, message));

const CONTAINER_FIELDS: Readonly<Record<ContainerRole, string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};

/** Returns a reference to a pod, or to one of its containers, for events. */
export function involvedPod(
  { apiVersion, metadata: { namespace, name, uid, resourceVersion } }: Pod,
  container?: { readonly name: string; readonly role: ContainerRole },
): InvolvedObject {
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const pod = { kind: 'Pod' as const, apiVersion, namespace, name, uid, ...version };
  return container ? { ...pod, fieldPath: `spec.${CONTAINER_FIELDS[container.role]}{${container.name}}` } : pod;
}

/** Returns a reference to the node for events. As in the kubelet, the node's name replaces the UID. */
export const involvedNode = (name: string): InvolvedObject => ({ kind: 'Node', name, uid: name });
