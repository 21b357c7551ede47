/** Queue of events to send. Warnings are sent first, and normal events once no pod start is queued. */
import type { CoreEvent } from '../../kubernetes/events/event.ts';

/** Maximum number of queued events. Beyond this, events are dropped. */
const MAX_QUEUED = 1_000;
/** Maximum time that a normal event yields to pod starts. */
const MAX_YIELD_MS = 30_000;
/**
 * Maximum number of yielding events. The rest of the queue is reserved for events that accumulate while the server is
 * unavailable.
 */
const MAX_YIELDING = MAX_QUEUED / 2;

export interface WaitingEvent {
  readonly event: CoreEvent;
  /** Whether the server does not have the event yet. */
  readonly isNew: boolean;
  /** Time of arrival on the monotonic clock, in milliseconds. */
  readonly queuedAtMs: number;
}

/** Keyed by namespace and name, so only the last count of a repeated event is sent. */
type Queue = Map<string, WaitingEvent>;

export class WaitingEvents {
  readonly #warnings: Queue = new Map();
  readonly #normal: Queue = new Map();

  get size(): number {
    return this.#warnings.size + this.#normal.size;
  }

  /** The number of queued normal events. */
  get normalCount(): number {
    return this.#normal.size;
  }

  /** Returns how much longer the first normal event may yield, in milliseconds, or 0 if none may. */
  yieldsFor(now: number): number {
    const first = firstOf(this.#normal);
    if (first === undefined || this.#normal.size > MAX_YIELDING) return 0;
    return Math.max(0, first.queuedAtMs + MAX_YIELD_MS - now);
  }

  /**
   * Queues an event. Returns false if the queue was full. In that case, a warning replaces the newest normal event, if
   * any, and all other events are dropped.
   */
  add(event: CoreEvent, now: number): boolean {
    const key = keyOf(event);
    const queue = event.type === 'Normal' ? this.#normal : this.#warnings;
    const queued = queue.get(key);
    const isFull = queued === undefined && this.size >= MAX_QUEUED;
    if (isFull && !(queue === this.#warnings && this.#dropNewestNormal())) return false;
    queue.set(key, { event, isNew: queued?.isNew ?? event.count === 1, queuedAtMs: queued?.queuedAtMs ?? now });
    return !isFull;
  }

  /** Removes and returns the next event. Undefined if the queue is empty or all events yield. */
  next(now: number, yields: boolean): WaitingEvent | undefined {
    const [warning, normal] = [firstOf(this.#warnings), firstOf(this.#normal)];
    // Send a normal event eventually, regardless of the number of warnings.
    const isOverdue = normal !== undefined && normal.queuedAtMs + MAX_YIELD_MS <= now;
    if (warning !== undefined && !(isOverdue && normal.queuedAtMs < warning.queuedAtMs))
      return remove(this.#warnings, warning);
    return normal === undefined || (yields && this.yieldsFor(now) > 0) ? undefined : remove(this.#normal, normal);
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

function remove(queue: Queue, queued: WaitingEvent): WaitingEvent {
  queue.delete(keyOf(queued.event));
  return queued;
}
