/**
 * Keeps events few, as clients of Kubernetes do: the same one again is counted, many that differ only in their message
 * become one, and an object that has too much to tell is not heard for a while.
 */
import type { InvolvedObject, RecordedEvent } from '../../pod/events/recordedEvent.ts';

/** What becomes of an event: the event that it is part of. `key` tells which one, `count` how often it was. */
export interface Correlated {
  readonly recordedEvent: RecordedEvent;
  readonly key: string;
  readonly count: number;
  readonly firstAt: number;
}

/** So many different messages of one reason about one object within the interval are told as one event. */
const SIMILAR_MESSAGES = 10;
const SIMILAR_WITHIN_MS = 600_000;
/** What one object may tell at once, and after how long it may tell one more. */
const BURST = 25;
const REFILL_MS = 300_000;
/** How many objects, events and reasons are remembered. */
const REMEMBERED = 4_096;

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Gives undefined for what is not to be told; it is counted all the same. */
export function createCorrelator(): (recordedEvent: RecordedEvent, at: number) => Correlated | undefined {
  const similar = new Map<string, Similar>();
  const seen = new Map<string, { count: number; firstAt: number }>();
  const buckets = new Map<string, Bucket>();

  const aggregate = (recordedEvent: RecordedEvent, at: number): { key: string; recordedEvent: RecordedEvent } => {
    const { eventType, reason, message, involved } = recordedEvent;
    const group = keyOf(objectKey(involved), eventType, reason);
    const known = similar.get(group);
    const record =
      known && at - known.lastAt <= SIMILAR_WITHIN_MS ? known : { messages: new Set<string>(), lastAt: at };
    record.lastAt = at;
    remember(similar, group, record);
    if (record.messages.has(message) || record.messages.size + 1 < SIMILAR_MESSAGES) {
      record.messages.add(message);
      return { key: keyOf(group, involved.fieldPath, message), recordedEvent };
    }
    return { key: group, recordedEvent: { ...recordedEvent, message: `(combined from similar events): ${message}` } };
  };

  const mayTell = (object: string, at: number): boolean => {
    const known = buckets.get(object) ?? { tokens: BURST, at };
    const tokens = Math.min(BURST, known.tokens + (at - known.at) / REFILL_MS);
    const allowed = tokens >= 1;
    remember(buckets, object, { tokens: allowed ? tokens - 1 : tokens, at });
    return allowed;
  };

  return (told, at) => {
    const { key, recordedEvent } = aggregate(told, at);
    const before = seen.get(key);
    const observed = { count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? at };
    remember(seen, key, observed);
    return mayTell(objectKey(told.involved), at) ? { recordedEvent, key, ...observed } : undefined;
  };
}

const keyOf = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts);

const objectKey = ({ kind, namespace, name, uid }: InvolvedObject): string => keyOf(kind, namespace, name, uid);

/** The newest stand last; of too many, the one that was not needed for longest goes. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}
