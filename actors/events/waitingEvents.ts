/** The events that wait to be sent: warnings first, and normal ones once no pod has to wait for them. */
import type { CoreEvent } from '../../kubernetes/events/event.ts';

/** What waits beyond that is not sent. */
const QUEUED = 1_000;
/** A normal event gives way for so long at most. */
const YIELD_MS = 30_000;
/** So many give way at most: the rest of the room is for what a server that is away leaves. */
const MOST_YIELDING = QUEUED / 2;

export interface WaitingEvent {
  readonly event: CoreEvent;
  /** The server does not have it yet. */
  readonly isNew: boolean;
  /** When it came, by a clock that nobody sets, in milliseconds. */
  readonly since: number;
}

/** Keyed by namespace and name: of an event that happened again meanwhile the last count is sent. */
type Queue = Map<string, WaitingEvent>;

export class WaitingEvents {
  readonly #warnings: Queue = new Map();
  readonly #normal: Queue = new Map();

  get size(): number {
    return this.#warnings.size + this.#normal.size;
  }

  /** How many normal ones wait. */
  get yielding(): number {
    return this.#normal.size;
  }

  /** How much longer the first normal one gives way at most, in milliseconds; 0 where none does. */
  yieldsFor(now: number): number {
    const first = firstOf(this.#normal);
    if (first === undefined || this.#normal.size > MOST_YIELDING) return 0;
    return Math.max(0, first.since + YIELD_MS - now);
  }

  /** Takes an event in at a moment; false where too many wait, and for a warning that takes the place of a normal one. */
  add(event: CoreEvent, now: number): boolean {
    const key = keyOf(event);
    const queue = event.type === 'Normal' ? this.#normal : this.#warnings;
    const waiting = queue.get(key);
    const isFull = waiting === undefined && this.size >= QUEUED;
    if (isFull && !(queue === this.#warnings && this.#dropNewestNormal())) return false;
    queue.set(key, { event, isNew: waiting?.isNew ?? event.count === 1, since: waiting?.since ?? now });
    return !isFull;
  }

  /** Takes out the next; undefined where none waits, or all that do give way. */
  next(now: number, yields: boolean): WaitingEvent | undefined {
    const [warning, normal] = [firstOf(this.#warnings), firstOf(this.#normal)];
    // However many warnings there are, a normal one gets its turn.
    const isOverdue = normal !== undefined && normal.since + YIELD_MS <= now;
    if (warning !== undefined && !(isOverdue && normal.since < warning.since)) return taken(this.#warnings, warning);
    return normal === undefined || (yields && this.yieldsFor(now) > 0) ? undefined : taken(this.#normal, normal);
  }

  #dropNewestNormal(): boolean {
    const newest = [...this.#normal.keys()].at(-1);
    return newest !== undefined && this.#normal.delete(newest);
  }
}

const keyOf = ({ metadata: { namespace, name } }: CoreEvent): string => `${namespace}/${name}`;

function firstOf(queue: Queue): WaitingEvent | undefined {
  const [first] = queue.values();
  return first;
}

function taken(queue: Queue, waiting: WaitingEvent): WaitingEvent {
  queue.delete(keyOf(waiting.event));
  return waiting;
}
