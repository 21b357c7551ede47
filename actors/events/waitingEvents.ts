/** Queues events to send. Warnings are sent first. Normal events are sent when no pod start is queued. */
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
  /** Monotonic time at which the event was queued, in milliseconds. */
  readonly queuedAtMs: number;
}

/** Keyed by namespace and name, so only the latest count of a repeated event is sent. */
type EventQueue = Map<string, WaitingEvent>;

export class WaitingEvents {
  readonly #warningEvents: EventQueue = new Map();
  readonly #normalEvents: EventQueue = new Map();

  get size(): number {
    return this.#warningEvents.size + this.#normalEvents.size;
  }

  get normalCount(): number {
    return this.#normalEvents.size;
  }

  /**
   * Returns how much longer the oldest normal event may yield to pod starts, in milliseconds. Returns 0 if no event may
   * yield.
   */
  remainingYieldMs(now: number): number {
    const oldestNormal = oldestEvent(this.#normalEvents);
    if (oldestNormal === undefined || this.#normalEvents.size > MAX_YIELDING) return 0;
    return Math.max(0, oldestNormal.queuedAtMs + MAX_YIELD_MS - now);
  }

  /**
   * Queues an event. Returns false if the queue was full. In that case, a warning replaces the newest queued normal
   * event. A normal event, or a warning that finds no normal event to replace, is dropped.
   */
  add(event: CoreEvent, now: number): boolean {
    const key = eventKey(event);
    const targetQueue = event.type === 'Normal' ? this.#normalEvents : this.#warningEvents;
    const queuedEvent = targetQueue.get(key);
    const isQueueFull = queuedEvent === undefined && this.size >= MAX_QUEUED;
    if (isQueueFull && !(targetQueue === this.#warningEvents && this.#dropNewestNormalEvent())) return false;
    targetQueue.set(key, {
      event,
      isNew: queuedEvent?.isNew ?? event.count === 1,
      queuedAtMs: queuedEvent?.queuedAtMs ?? now,
    });
    return !isQueueFull;
  }

  /**
   * Removes and returns the next event. Returns undefined if the queue is empty or all its events yield to pod starts.
   */
  next(now: number, mustYield: boolean): WaitingEvent | undefined {
    const [warning, normal] = [oldestEvent(this.#warningEvents), oldestEvent(this.#normalEvents)];
    // Send a normal event eventually, regardless of the number of warnings.
    const hasWaitedTooLong = normal !== undefined && normal.queuedAtMs + MAX_YIELD_MS <= now;
    if (warning !== undefined && !(hasWaitedTooLong && normal.queuedAtMs < warning.queuedAtMs))
      return removeEvent(this.#warningEvents, warning);
    return normal === undefined || (mustYield && this.remainingYieldMs(now) > 0)
      ? undefined
      : removeEvent(this.#normalEvents, normal);
  }

  #dropNewestNormalEvent(): boolean {
    const newestKey = [...this.#normalEvents.keys()].at(-1);
    return newestKey !== undefined && this.#normalEvents.delete(newestKey);
  }
}

const eventKey = ({ metadata: { namespace, name } }: CoreEvent): string => `${namespace}/${name}`;

function oldestEvent(queue: EventQueue): WaitingEvent | undefined {
  const [first] = queue.values();
  return first;
}

function removeEvent(queue: EventQueue, queued: WaitingEvent): WaitingEvent {
  queue.delete(eventKey(queued.event));
  return queued;
}
