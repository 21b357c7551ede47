/** The core/v1 Event: what `get events` shows, made of what a machine told. */

import { rfc3339 } from '../api/rfc3339.ts';
import type { EventType, InvolvedObject, RecordedEvent } from './recordedEvent.ts';

export interface CoreEvent {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly creationTimestamp: string };
  readonly involvedObject: InvolvedObject;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string; readonly host: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly type: EventType;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

/** The component that node agents are known as, whoever wrote them. */
const COMPONENT = 'kubelet';
/** Events about what has no namespace lie here. */
const DEFAULT_NAMESPACE = 'default';

export interface EventDetails {
  readonly host: string;
  /** When it last happened, and when first, in milliseconds since the epoch. */
  readonly at: number;
  readonly firstAt: number;
  readonly count: number;
  readonly name: string;
}

export function coreEvent(
  { involved, reason, message, eventType }: RecordedEvent,
  { host, at, firstAt, count, name }: EventDetails,
): CoreEvent {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: involved.namespace ?? DEFAULT_NAMESPACE, creationTimestamp: rfc3339(firstAt) },
    involvedObject: involved,
    reason,
    message,
    source: { component: COMPONENT, host },
    firstTimestamp: rfc3339(firstAt),
    lastTimestamp: rfc3339(at),
    count,
    type: eventType,
    reportingComponent: COMPONENT,
    reportingInstance: host,
  };
}

/** `<object>.<hex>`: the time in nanoseconds, where the number of the event stands for those that no clock tells apart. */
export function eventName({ name }: InvolvedObject, at: number, number: number): string {
  return `${name}.${(BigInt(Math.trunc(at)) * 1_000_000n + BigInt(number % 1_000_000)).toString(16)}`;
}
