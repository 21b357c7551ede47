/**
 * Forwards the events of a running node to the current observers. Without observers, the only cost is one check of an
 * empty set per event.
 */
import type { InspectionEvent } from 'xstate';
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import type { Redaction } from '../../actors/replay/redaction.ts';
import type { RecordingLine } from '../../recording/lines.ts';

/** An observer of a node. An error thrown by a callback is reported and does not stop the node. */
interface Observer {
  /** Called with each line that a recorder would write. */
  readonly line?: (line: RecordingLine) => void;
  /** Called with each XState inspection event. */
  readonly inspect?: (event: InspectionEvent) => void;
}

/** The set of a node's observers. */
export interface Audience {
  /** Adds an observer and returns a function that removes it. */
  add(observer: Observer): () => void;
  /** Listeners to pass to the node. They forward the node's events to the observers. */
  readonly listeners: {
    readonly [K in 'onInput' | 'onPortCall' | 'onStateChange' | 'inspect' | 'events']: NonNullable<NodeParts[K]>;
  };
}

/** Creates an empty audience. `redact` removes secrets from events. */
export function createAudience(redact: Redaction['redact']): Audience {
  const observers = new Set<Observer>();
  const publish = (line: () => RecordingLine) => {
    if (observers.size === 0) return;
    const publishedLine = line();
    callEach(observers, (observer) => observer.line?.(publishedLine));
  };
  return {
    add: (observer) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    listeners: {
      onInput: (entry) => publish(() => entry),
      onPortCall: (call) => publish(() => ({ kind: 'asked', ...call })),
      onStateChange: (move) => publish(() => ({ kind: 'state', ...move })),
      events: ({ type: _, ...event }) => publish(() => ({ kind: 'event', ...redact(event) })),
      inspect: (event) => callEach(observers, (observer) => observer.inspect?.(event)),
    },
  };
}

/** Calls all observers even if some of them throw, then rethrows the first error. */
function callEach(observers: ReadonlySet<Observer>, call: (observer: Observer) => void): void {
  // Return early, because this code runs on each step of each actor and there are usually no observers.
  if (observers.size === 0) return;
  let firstError: { readonly error: unknown } | undefined;
  for (const observer of observers) {
    try {
      call(observer);
    } catch (error) {
      firstError ??= { error };
    }
  }
  if (firstError) throw firstError.error;
}
