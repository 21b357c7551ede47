/**
 * Limits the number of events as client-go does (`tools/record/events_cache.go`). A repeated event is counted, many
 * events that differ only in their messages are aggregated, and each object has a budget for each type of event.
 */
import type { InvolvedObject, RecordedEvent } from '../../kubernetes/events/recordedEvent.ts';

/**
 * The event that an occurrence counts towards. `key` identifies the event, and `count` is its number of occurrences.
 */
export interface CorrelatedEvent {
  readonly recordedEvent: RecordedEvent;
  readonly key: string;
  readonly count: number;
  readonly firstAt: number;
}

/**
 * Events about one object with the same type and reason are combined once this many different messages have occurred
 * within `SIMILAR_INTERVAL_MS`.
 */
const SIMILAR_MESSAGES = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** Maximum burst of events per object and type (`getSpamKey`). Events beyond this budget are dropped. */
const BURST_EVENTS = 25;
/** Time after which a budget allows one more event. */
const REFILL_MS = 300_000;
/** Maximum number of entries in each of the caches. */
const CACHE_SIZE = 4_096;

interface SimilarEvents {
  readonly messages: Set<string>;
  lastAt: number;
}

interface TokenBucket {
  remainingTokens: number;
  at: number;
}

/**
 * Returns a function that counts an occurrence of an event. The function returns undefined if the budget is exhausted,
 * but still counts the occurrence.
 */
export function createCorrelator(): (recordedEvent: RecordedEvent, at: number) => CorrelatedEvent | undefined {
  const similarEvents = new Map<string, SimilarEvents>();
  const occurrences = new Map<string, { count: number; firstAt: number }>();
  const buckets = new Map<string, TokenBucket>();

  const combineSimilar = (recordedEvent: RecordedEvent, at: number): { key: string; recordedEvent: RecordedEvent } => {
    const { eventType, reason, message, involved } = recordedEvent;
    const groupKey = joinKey(objectKey(involved), eventType, reason);
    const previousGroup = similarEvents.get(groupKey);
    const isRecent = previousGroup !== undefined && at - previousGroup.lastAt <= SIMILAR_INTERVAL_MS;
    const currentGroup = isRecent ? previousGroup : { messages: new Set<string>(), lastAt: at };
    currentGroup.lastAt = at;
    cacheEntry(similarEvents, groupKey, currentGroup);
    if (currentGroup.messages.has(message) || currentGroup.messages.size + 1 < SIMILAR_MESSAGES) {
      currentGroup.messages.add(message);
      return { key: joinKey(groupKey, involved.fieldPath, message), recordedEvent };
    }
    return {
      key: groupKey,
      recordedEvent: { ...recordedEvent, message: `(combined from similar events): ${message}` },
    };
  };

  const takeToken = ({ involved, eventType }: RecordedEvent, at: number): boolean => {
    const budgetKey = joinKey(objectKey(involved), eventType);
    const tokenBucket = buckets.get(budgetKey) ?? { remainingTokens: BURST_EVENTS, at };
    const availableTokens = Math.min(BURST_EVENTS, tokenBucket.remainingTokens + (at - tokenBucket.at) / REFILL_MS);
    const isAllowed = availableTokens >= 1;
    cacheEntry(buckets, budgetKey, { remainingTokens: isAllowed ? availableTokens - 1 : availableTokens, at });
    return isAllowed;
  };

  return (occurrence, at) => {
    const { key, recordedEvent } = combineSimilar(occurrence, at);
    const previousOccurrences = occurrences.get(key);
    const updatedOccurrences = {
      count: (previousOccurrences?.count ?? 0) + 1,
      firstAt: previousOccurrences?.firstAt ?? at,
    };
    cacheEntry(occurrences, key, updatedOccurrences);
    return takeToken(occurrence, at) ? { recordedEvent, key, ...updatedOccurrences } : undefined;
  };
}

const joinKey = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts);

const objectKey = ({ kind, namespace, name, uid }: InvolvedObject): string => joinKey(kind, namespace, name, uid);

/** Adds the value as the newest entry. A full cache drops the least recently used entry. */
function cacheEntry<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_SIZE && oldest !== undefined) map.delete(oldest);
}
