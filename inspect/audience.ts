/** Who looks on at a running node, for as long as they do: with nobody there it costs a look at an empty set. */
import type { InspectionEvent } from 'xstate';
import type { NodeParts } from '../actors/nodeParts.ts';
import type { Redaction } from '../actors/redaction.ts';
import type { Line } from '../recording/lines.ts';

/** Somebody who looks on. What is thrown here is the fault of nobody else: it is reported, and the node goes on. */
interface Onlooker {
  /** What would be written down of what happens. */
  readonly line?: (line: Line) => void;
  /** Every inspection event of xstate. */
  readonly inspect?: (event: InspectionEvent) => void;
}

/** The onlookers of a node. */
export interface Audience {
  /** Tells an onlooker of all that happens, until the function that it gives is called. */
  add(onlooker: Onlooker): () => void;
  /** What the node's parts are to tell. */
  readonly parts: { readonly [K in 'record' | 'calls' | 'moves' | 'inspect' | 'events']: NonNullable<NodeParts[K]> };
}

/** An audience without anybody in it; `redact` keeps out of events what may not be seen. */
export function createAudience(redact: Redaction['redact']): Audience {
  const onlookers = new Set<Onlooker>();
  const tell = (line: () => Line) => {
    if (onlookers.size === 0) return;
    const told = line();
    toEach(onlookers, (onlooker) => onlooker.line?.(told));
  };
  return {
    add: (onlooker) => {
      onlookers.add(onlooker);
      return () => void onlookers.delete(onlooker);
    },
    parts: {
      record: (entry) => tell(() => entry),
      calls: (call) => tell(() => ({ kind: 'asked', ...call })),
      moves: (move) => tell(() => ({ kind: 'state', ...move })),
      events: ({ type: _, ...event }) => tell(() => ({ kind: 'event', ...redact(event) })),
      inspect: (event) => toEach(onlookers, (onlooker) => onlooker.inspect?.(event)),
    },
  };
}

/** What one throws keeps nothing from the others; the first of it is thrown once all have been told. */
function toEach(onlookers: ReadonlySet<Onlooker>, tell: (onlooker: Onlooker) => void): void {
  // Mostly nobody looks on, and each step of each actor is told.
  if (onlookers.size === 0) return;
  let thrown: { readonly error: unknown } | undefined;
  for (const onlooker of onlookers) {
    try {
      tell(onlooker);
    } catch (error) {
      thrown ??= { error };
    }
  }
  if (thrown) throw thrown.error;
}
