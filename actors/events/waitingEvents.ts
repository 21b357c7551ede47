/** The events that wait to be sent: what went wrong first, and what went well once nobody has to wait for it. */
import type { CoreEvent } from '../../pod/events/event.ts';

/** What waits beyond that is not sent. */
const QUEUED = 1_000;
/** What went well gives way for so long at most. */
const YIELD_MS = 30_000;

export interface WaitingEvent {
  readonly event: CoreEvent;
  /** The server does not have it yet. */
  readonly isNew: boolean;
  /** When it came, by a clock that nobody sets, in milliseconds. */
  readonly since: number;
}

/** By namespace and name: of an event that happened again meanwhile the last count is sent. */
type Queue = Map<string, WaitingEvent>;

export class WaitingEvents {
  readonly #warnings: Queue = new Map();
  readonly #normal: Queue = new Map();

  get size(): number {
    return this.#warnings.size + this.#normal.size;
  }

  /** How much longer the first of those that give way does so at most, in milliseconds; 0 where none waits. */
  yieldsFor(now: number): number {
    const since = firstOf(this.#normal)?.[1].since;
    return since === undefined ? 0 : Math.max(0, since + YIELD_MS - now);
  }

  /** Takes an event in at a moment; false where too many wait. */
  add(event: CoreEvent, now: number): boolean {
    const key = `${event.metadata.namespace}/${event.metadata.name}`;
    const queue = event.type === 'Normal' ? this.#normal : this.#warnings;
    const waiting = queue.get(key);
    if (waiting === undefined && this.size >= QUEUED) return false;
    queue.set(key, { event, isNew: waiting?.isNew ?? event.count === 1, since: waiting?.since ?? now });
    return true;
  }

  /** Takes out the next; undefined where none waits, or all that do give way. */
  next(now: number, yields: boolean): WaitingEvent | undefined {
    const warning = removedFrom(this.#warnings);
    if (warning !== undefined) return warning;
    return yields && this.yieldsFor(now) > 0 ? undefined : removedFrom(this.#normal);
  }
}

const firstOf = (queue: Queue): [string, WaitingEvent] | undefined => {
  const [first] = queue;
  return first;
};

function removedFrom(queue: Queue): WaitingEvent | undefined {
  const [key, first] = firstOf(queue) ?? [];
  if (key !== undefined) queue.delete(key);
  return first;
}
