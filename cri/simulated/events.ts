import { ContainerEventType } from '../generated/runtime.ts';
import type { CallError } from './callError.ts';

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

/** What becomes of events on their way: told, kept until told again, lost, or told twice. */
export type EventDelivery = 'normal' | 'paused' | 'dropped' | 'doubled';

/** The runtime's event streams, with the ways in which they can go wrong. */
export class EventStreams {
  readonly #listeners = new Set<EventListener>();
  readonly #kept: RuntimeEvent[] = [];
  #delivery: EventDelivery = 'normal';

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
    if (delivery === 'paused') return;
    for (const event of this.#kept.splice(0)) this.emit(event);
  }

  emit(event: RuntimeEvent): void {
    if (this.#delivery === 'paused') this.#kept.push(event);
    if (this.#delivery === 'paused' || this.#delivery === 'dropped') return;
    const times = this.#delivery === 'doubled' ? 2 : 1;
    for (let i = 0; i < times; i++) for (const listener of [...this.#listeners]) listener.onEvent(event);
  }

  /** Breaks every open stream. */
  breakAll(error: CallError): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.onBreak(error);
  }
}
