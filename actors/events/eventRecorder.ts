/** Stores the machines' events of the last hour as core/v1 Events, in memory only. */
import { type CoreEvent, coreEvent, eventName } from '../../kubernetes/events/event.ts';
import { createCorrelator } from './eventCorrelator.ts';
import type { EventSink } from './eventSink.ts';

/** A new or repeated event, or one that has expired. */
export interface EventChange {
  readonly event: CoreEvent;
  readonly removed: boolean;
}

export interface EventRecorder {
  readonly record: EventSink;
  /** Returns the events, oldest first. */
  events(): readonly CoreEvent[];
  /** Calls the listener with every change. Returns a function that unsubscribes. */
  subscribe(listener: (change: EventChange) => void): () => void;
}

/** Maximum age of an event, as in an API server. Older events expire. */
const MAX_AGE_MS = 3_600_000;
/** Maximum number of events. Beyond this, the oldest events are dropped. */
const MAX_EVENTS = 4_096;

interface StoredClusterEvent {
  readonly event: CoreEvent;
  readonly at: number;
}

export function createEventRecorder(host: string, now: () => number): EventRecorder {
  const correlateEvent = createCorrelator();
  const eventStore = createEventStore();
  let sequenceNumber = 0;
  return {
    record: ({ at, ...message }) => {
      const correlatedEvent = correlateEvent(message, at);
      if (correlatedEvent === undefined) return;
      const { recordedEvent, key, count, firstAt: firstSeenAt } = correlatedEvent;
      sequenceNumber += 1;
      const name = eventStore.eventName(key) ?? eventName(recordedEvent.involved, at, sequenceNumber);
      eventStore.set(key, { event: coreEvent(recordedEvent, { host, at, firstAt: firstSeenAt, count, name }), at });
    },
    events: () => {
      eventStore.removeExpired(now());
      return eventStore.events();
    },
    subscribe: eventStore.subscribe,
  };
}

/** Creates a store of recent events, ordered by their last occurrence. */
function createEventStore() {
  const storedEvents = new Map<string, StoredClusterEvent>();
  const listeners = new Set<(change: EventChange) => void>();
  const notifyListeners = (change: EventChange) => {
    for (const listener of listeners) listener(change);
  };
  const removeExpired = (at: number) => {
    for (const [key, { event, at: last }] of storedEvents) {
      if (storedEvents.size <= MAX_EVENTS && at - last < MAX_AGE_MS) return;
      storedEvents.delete(key);
      notifyListeners({ event, removed: true });
    }
  };
  return {
    removeExpired,
    eventName: (key: string) => storedEvents.get(key)?.event.metadata.name,
    events: () => [...storedEvents.values()].map(({ event }) => event),
    set: (key: string, { event, at }: StoredClusterEvent) => {
      storedEvents.delete(key);
      storedEvents.set(key, { event, at });
      notifyListeners({ event, removed: false });
      removeExpired(at);
    },
    subscribe: (listener: (change: EventChange) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
