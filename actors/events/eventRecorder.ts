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
  /** Returns the events, the most recent last. */
  events(): readonly CoreEvent[];
  /** Calls the listener with every change. Returns a function that unsubscribes. */
  subscribe(listener: (change: EventChange) => void): () => void;
}

/** Maximum age of an event, as in an API server. Older events expire. */
const MAX_AGE_MS = 3_600_000;
/** Maximum number of events. Beyond this, the oldest events are dropped. */
const MAX_EVENTS = 4_096;

interface StoredEvent {
  readonly event: CoreEvent;
  readonly at: number;
}

export function createEventRecorder(host: string, now: () => number): EventRecorder {
  const correlate = createCorrelator();
  const store = createEventStore();
  let sequence = 0;
  return {
    record: ({ at, ...message }) => {
      const correlated = correlate(message, at);
      if (correlated === undefined) return;
      const { recordedEvent, key, count, firstAt } = correlated;
      sequence += 1;
      const name = store.nameOf(key) ?? eventName(recordedEvent.involved, at, sequence);
      store.set(key, { event: coreEvent(recordedEvent, { host, at, firstAt, count, name }), at });
    },
    events: () => {
      store.removeExpired(now());
      return store.events();
    },
    subscribe: store.subscribe,
  };
}

/** Creates a store of recent events, ordered by their last occurrence. */
function createEventStore() {
  const stored = new Map<string, StoredEvent>();
  const listeners = new Set<(change: EventChange) => void>();
  const notify = (change: EventChange) => {
    for (const listener of listeners) listener(change);
  };
  const removeExpired = (at: number) => {
    for (const [key, { event, at: last }] of stored) {
      if (stored.size <= MAX_EVENTS && at - last < MAX_AGE_MS) return;
      stored.delete(key);
      notify({ event, removed: true });
    }
  };
  return {
    removeExpired,
    nameOf: (key: string) => stored.get(key)?.event.metadata.name,
    events: () => [...stored.values()].map(({ event }) => event),
    set: (key: string, { event, at }: StoredEvent) => {
      stored.delete(key);
      stored.set(key, { event, at });
      notify({ event, removed: false });
      removeExpired(at);
    },
    subscribe: (listener: (change: EventChange) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
