/**
 * Limits the number of events as client-go does (`tools/record/events_cache.go`). A repeated event is counted, many
 * events that differ only in their messages are combined, and each object has a budget for each type of event.
 */
import type { InvolvedObject, RecordedEvent } from '../../kubernetes/events/recordedEvent.ts';

/**
 * The event that an occurrence counts towards. `key` identifies the event, and `count` is its number of occurrences.
 */
export interface Correlated {
  readonly recordedEvent: RecordedEvent;
  readonly key: string;
  readonly count: number;
  readonly firstAt: number;
}

/**
 * Events about one object with the same type and reason are combined once this many different messages have occurred
 * within the interval.
 */
const SIMILAR_MESSAGES = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** Budget of events per object and type (`getSpamKey`). Events beyond the budget are dropped. */
const BURST = 25;
/** Time after which a budget allows one more event. */
const REFILL_MS = 300_000;
/** Maximum number of entries in each of the caches. */
const CACHE_SIZE = 4_096;

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Returns a function that counts an occurrence. Its result is undefined if the budget is exhausted, although the
 * occurrence is counted.
 */
export function createCorrelator(): (recordedEvent: RecordedEvent, at: number) => Correlated | undefined {
  const similar = new Map<string, Similar>();
  const counts = new Map<string, { count: number; firstAt: number }>();
  const buckets = new Map<string, Bucket>();

  const aggregate = (recordedEvent: RecordedEvent, at: number): { key: string; recordedEvent: RecordedEvent } => {
    const { eventType, reason, message, involved } = recordedEvent;
    const group = keyOf(objectKey(involved), eventType, reason);
    const previous = similar.get(group);
    const isRecent = previous !== undefined && at - previous.lastAt <= SIMILAR_INTERVAL_MS;
    const record = isRecent ? previous : { messages: new Set<string>(), lastAt: at };
    record.lastAt = at;
    cache(similar, group, record);
    if (record.messages.has(message) || record.messages.size + 1 < SIMILAR_MESSAGES) {
      record.messages.add(message);
      return { key: keyOf(group, involved.fieldPath, message), recordedEvent };
    }
    return { key: group, recordedEvent: { ...recordedEvent, message: `(combined from similar events): ${message}` } };
  };

  const takeFromBudget = ({ involved, eventType }: RecordedEvent, at: number): boolean => {
    const budget = keyOf(objectKey(involved), eventType);
    const bucket = buckets.get(budget) ?? { tokens: BURST, at };
    const tokens = Math.min(BURST, bucket.tokens + (at - bucket.at) / REFILL_MS);
    const isAllowed = tokens >= 1;
    cache(buckets, budget, { tokens: isAllowed ? tokens - 1 : tokens, at });
    return isAllowed;
  };

  return (occurrence, at) => {
    const { key, recordedEvent } = aggregate(occurrence, at);
    const previous = counts.get(key);
    const observed = { count: (previous?.count ?? 0) + 1, firstAt: previous?.firstAt ?? at };
    cache(counts, key, observed);
    return takeFromBudget(occurrence, at) ? { recordedEvent, key, ...observed } : undefined;
  };
}

const keyOf = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts);

const objectKey = ({ kind, namespace, name, uid }: InvolvedObject): string => keyOf(kind, namespace, name, uid);

/** Adds the value as the newest entry. A full cache drops the least recently used entry. */
function cache<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_SIZE && oldest !== undefined) map.delete(oldest);
}
