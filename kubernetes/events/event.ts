/** The core/v1 Event: what `get events` shows, made of what a machine told. */

import { createHash } from 'node:crypto';
import { rfc3339 } from '../api/rfc3339.ts';
import { dnsSubdomain } from '../api/validation/nameRules.ts';
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

/**
 * Returns `<object>.<hex>`, the time in nanoseconds, in which the number of the event stands for the digits below a
 * millisecond. If an API server would reject that name, because it is no DNS subdomain, returns a UUID, as
 * `GenerateEventName` does in client-go's `tools/record/util/util.go`. The UUID is derived from the name, so that it is
 * as unique as the name and the same in a replay.
 */
export function eventName({ name }: InvolvedObject, at: number, number: number): string {
  const unique = `${name}.${(BigInt(Math.trunc(at)) * 1_000_000n + BigInt(number % 1_000_000)).toString(16)}`;
  return dnsSubdomain(unique).length === 0 ? unique : uuidOf(unique);
}

/** The UUID, of version 8 (RFC 9562), that is derived from a text. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const variant = 8 + (Number.parseInt(digits.slice(16, 17), 16) % 4);
  const last = `${variant.toString(16)}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${last}`;
}
