/** Builds the core/v1 Event that `get events` shows, from an event that a machine has recorded. */

import { createHash } from 'node:crypto';
import { dnsSubdomainProblems } from '../api/validation/metadata/nameRules.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import type { EventType, InvolvedObject, RecordedEvent } from './recordedEvent.ts';

export interface CoreEvent {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
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

/** Component name in events. Like other node agents, this agent uses the name of the kubelet. */
const COMPONENT_NAME = 'kubelet';
/** Namespace of events about objects without a namespace. */
const DEFAULT_NAMESPACE = 'default';

export interface EventDetails {
  readonly host: string;
  /** Time of the last occurrence, in milliseconds since the epoch. `firstAt` is the time of the first one. */
  readonly at: number;
  readonly firstAt: number;
  readonly count: number;
  readonly name: string;
}

export function coreEvent(
  { involved, reason, message, eventType, annotations }: RecordedEvent,
  { host, at, firstAt, count, name }: EventDetails,
): CoreEvent {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name,
      namespace: involved.namespace ?? DEFAULT_NAMESPACE,
      creationTimestamp: rfc3339(firstAt),
      ...(annotations === undefined ? {} : { annotations }),
    },
    involvedObject: involved,
    reason,
    message,
    source: { component: COMPONENT_NAME, host },
    firstTimestamp: rfc3339(firstAt),
    lastTimestamp: rfc3339(at),
    count,
    type: eventType,
    reportingComponent: COMPONENT_NAME,
    reportingInstance: host,
  };
}

/**
 * Returns the name `<object>.<hex>`. The hex part encodes the timestamp in nanoseconds, with the sequence number of the
 * event in the digits below a millisecond. If the name is not a DNS subdomain, an API server would reject it. In that
 * case, returns a UUID instead, as in `GenerateEventName` in client-go's `tools/record/util/util.go`. The UUID is
 * derived from the invalid name, so it is equally unique and stays the same in a replay.
 */
export function eventName({ name }: InvolvedObject, timestamp: number, sequence: number): string {
  const uniqueName = `${name}.${(BigInt(Math.trunc(timestamp)) * 1_000_000n + BigInt(sequence % 1_000_000)).toString(16)}`;
  return dnsSubdomainProblems(uniqueName).length === 0 ? uniqueName : uuidFrom(uniqueName);
}

/** Derives a version 8 UUID (RFC 9562) from a string. */
function uuidFrom(text: string): string {
  const hexDigits = createHash('sha256').update(text).digest('hex');
  const variant = 8 + (Number.parseInt(hexDigits.slice(16, 17), 16) % 4);
  const lastGroups = `${variant.toString(16)}${hexDigits.slice(17, 20)}-${hexDigits.slice(20, 32)}`;
  return `${hexDigits.slice(0, 8)}-${hexDigits.slice(8, 12)}-8${hexDigits.slice(13, 16)}-${lastGroups}`;
}
