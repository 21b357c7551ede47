import { ContainerEventType } from '../generated/runtime.ts';
import type { CallError } from './callError.ts';
import type { Clock } from './clock.ts';

/** Something that happened to a container or a sandbox, as the CRI's event stream tells it. */
export interface RuntimeEvent {
  readonly type: ContainerEventType;
  /** The container's id, or the sandbox's own. */
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Whether the event is an exit: what container events are made of. */
export function isExit(event: RuntimeEvent): boolean {
  return event.type === ContainerEventType.CONTAINER_STOPPED_EVENT;
}

export interface EventListener {
  readonly onEvent: (event: RuntimeEvent) => void;
  /** The stream broke; nothing comes any more. */
  readonly onBreak: (error: CallError) => void;
}

/**
 * What becomes of an event on its way: the milliseconds after which it is told, once for each number; none loses it. By
 * different times events come in another order.
 */
type EventWay = (event: RuntimeEvent) => readonly number[];

/** What becomes of events: told, kept until told again, lost, told twice, or each as a function says. */
export type EventDelivery = 'normal' | 'paused' | 'dropped' | 'doubled' | EventWay;

const WAYS: Readonly<Record<'normal' | 'dropped' | 'doubled', EventWay>> = {
  normal: () => [0],
  dropped: () => [],
  doubled: () => [0, 0],
};

/** The runtime's event streams, with the ways in which they can go wrong. */
export class EventStreams {
  readonly #listeners = new Set<EventListener>();
  readonly #kept: RuntimeEvent[] = [];
  readonly #clock: Clock;
  #delivery: EventDelivery = 'normal';
  #held = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the way to unsubscribe. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Changes what becomes of events from now on; those kept while paused are then treated so, in their order. */
  deliver(delivery: EventDelivery): void {
    this.#delivery = delivery;
    if (delivery !== 'paused') this.#tellKept();
  }

  /** Keeps events for as long as the runtime stands still, and then tells them. */
  hold(held: boolean): void {
    this.#held = held;
    if (!held) this.#tellKept();
  }

  /** Loses some of the events that are kept. */
  forget(isLost: (event: RuntimeEvent) => boolean): void {
    this.#kept.splice(0, this.#kept.length, ...this.#kept.filter((event) => !isLost(event)));
  }

  emit(event: RuntimeEvent): void {
    if (this.#held || this.#delivery === 'paused') {
      this.#kept.push(event);
      return;
    }
    const way = typeof this.#delivery === 'function' ? this.#delivery : WAYS[this.#delivery];
    for (const ms of way(event)) {
      const listeners = [...this.#listeners];
      if (ms > 0) this.#clock.setTimeout(() => this.#tell(event, listeners), ms);
      else this.#tell(event, listeners);
    }
  }

  /** Breaks every open stream. */
  breakAll(error: CallError): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.onBreak(error);
  }

  #tellKept(): void {
    for (const event of this.#kept.splice(0)) this.emit(event);
  }

  /** Only to those that still listen: an event on its way is lost with its stream. */
  #tell(event: RuntimeEvent, listeners: readonly EventListener[]): void {
    for (const listener of listeners) if (this.#listeners.has(listener)) listener.onEvent(event);
  }
}
