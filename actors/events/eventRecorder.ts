/** The node's events: what the machines told, as core/v1 Events of the last hour, in memory only. */
import { type CoreEvent, coreEvent, eventName } from '../../kubernetes/events/event.ts';
import { createCorrelator } from './eventCorrelator.ts';
import type { EventSink } from './eventSink.ts';

/** An event that is new, was counted once more, or is forgotten. */
export interface EventChange {
  readonly event: CoreEvent;
  readonly removed: boolean;
}

export interface EventRecorder {
  readonly record: EventSink;
  /** Those that happened last stand last. */
  events(): readonly CoreEvent[];
  /** Tells of every change until the function it gives is called. */
  subscribe(listener: (change: EventChange) => void): () => void;
}

/** As an API server keeps them. */
const KEPT_MS = 3_600_000;
const KEPT = 4_096;

interface StoredEvent {
  readonly event: CoreEvent;
  readonly at: number;
}

export function createEventRecorder(host: string, now: () => number): EventRecorder {
  const correlate = createCorrelator();
  const kept = createEventStore();
  let number = 0;
  return {
    record: ({ at, ...told }) => {
      const correlated = correlate(told, at);
      if (correlated === undefined) return;
      const { recordedEvent, key, count, firstAt } = correlated;
      number += 1;
      const name = kept.nameOf(key) ?? eventName(recordedEvent.involved, at, number);
      kept.keep(key, { event: coreEvent(recordedEvent, { host, at, firstAt, count, name }), at });
    },
    events: () => {
      kept.forgetOld(now());
      return kept.events();
    },
    subscribe: kept.subscribe,
  };
}

/** Those that are still of interest, in the order of the last time each happened. */
function createEventStore() {
  const kept = new Map<string, StoredEvent>();
  const listeners = new Set<(change: EventChange) => void>();
  const tell = (change: EventChange) => {
    for (const listener of listeners) listener(change);
  };
  const forgetOld = (at: number) => {
    for (const [key, { event, at: last }] of kept) {
      if (kept.size <= KEPT && at - last < KEPT_MS) return;
      kept.delete(key);
      tell({ event, removed: true });
    }
  };
  return {
    forgetOld,
    nameOf: (key: string) => kept.get(key)?.event.metadata.name,
    events: () => [...kept.values()].map(({ event }) => event),
    keep: (key: string, { event, at }: StoredEvent) => {
      kept.delete(key);
      kept.set(key, { event, at });
      tell({ event, removed: false });
      forgetOld(at);
    },
    subscribe: (listener: (change: EventChange) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
