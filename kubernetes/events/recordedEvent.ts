/** What happened to a pod or the node and is worth telling its author: it becomes a core/v1 Event. */
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerRole } from '../status/view.ts';

export type EventType = 'Normal' | 'Warning';

/** What is told: the kubelet's reason and message. `Normal` when it says nothing else. */
export interface EventMessage {
  readonly eventType?: EventType;
  readonly reason: string;
  readonly message: string;
}

/** One or several, or none, as a transition has to tell. */
export type EventMessages = EventMessage | readonly EventMessage[];

/** What its author should look into. */
export const warning = (reason: string, message: string): EventMessage => ({ eventType: 'Warning', reason, message });

/** Whom an event is about, as Kubernetes refers to an object. */
export interface InvolvedObject {
  readonly kind: 'Pod' | 'Node';
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** Which version of it; absent where it is from no API server. */
  readonly resourceVersion?: string;
  /** The part of a pod that it is about: `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** What a machine emits; when it was is for who hears it to say. */
export interface RecordedEvent {
  readonly type: 'event.recorded';
  readonly eventType: EventType;
  readonly reason: string;
  readonly message: string;
  readonly involved: InvolvedObject;
}

export const recordedEvent = (
  involved: InvolvedObject,
  { eventType = 'Normal', reason, message }: EventMessage,
): RecordedEvent => ({
  type: 'event.recorded',
  eventType,
  reason,
  message,
  involved,
});

/** All that a transition has to tell about one object. */
export const recordedEvents = (involved: InvolvedObject, messages: EventMessages): RecordedEvent[] =>
  ('reason' in messages ? [messages] : messages).map((message) => recordedEvent(involved, message));

const LISTS: Readonly<Record<ContainerRole, string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};

/** A pod, or one of its containers, as events refer to it. */
export function involvedPod(
  { apiVersion, metadata: { namespace, name, uid, resourceVersion } }: Pod,
  container?: { readonly name: string; readonly role: ContainerRole },
): InvolvedObject {
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const pod = { kind: 'Pod' as const, apiVersion, namespace, name, uid, ...version };
  return container ? { ...pod, fieldPath: `spec.${LISTS[container.role]}{${container.name}}` } : pod;
}

/** The node as events refer to it: its own name stands for its uid, as with a kubelet. */
export const involvedNode = (name: string): InvolvedObject => ({ kind: 'Node', name, uid: name });
