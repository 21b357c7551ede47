import type { TimerClock } from '../../../base/time/clock.ts';
import { ContainerEventType } from '../../generated/runtime.ts';
import type { CallError } from '../faults/callError.ts';

/** An event of a container or sandbox on the CRI's event stream. */
export interface RuntimeEvent {
  readonly type: ContainerEventType;
  /** ID of the container, or of the sandbox if the event is about the sandbox. */
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  /** When the event occurred, in milliseconds since the epoch. */
  readonly at: number;
}

/** Whether the event is an exit, the only kind that `Cri.containerEvents` reports. */
export function isExit(event: RuntimeEvent): boolean {
  return event.type === ContainerEventType.CONTAINER_STOPPED_EVENT;
}

export interface EventListener {
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Called when the stream breaks, after which no event follows. */
  readonly onBreak: (error: CallError) => void;
}

/**
 * Returns one delay in milliseconds for each delivery of an event. An empty list means that the event is lost. Delays
 * that differ between events reorder the events.
 */
type GetDeliveryDelays = (event: RuntimeEvent) => readonly number[];

/** Event delivery mode: immediate, deferred, dropped, duplicated, or determined by a function for each event. */
export type EventDeliveryMode = 'normal' | 'paused' | 'dropped' | 'doubled' | GetDeliveryDelays;

const DELIVERY_DELAYS: Readonly<Record<'normal' | 'dropped' | 'doubled', GetDeliveryDelays>> = {
  normal: () => [0],
  dropped: () => [],
  doubled: () => [0, 0],
};

/** Manages the event streams of the runtime, with configurable delivery failures. */
export class EventStreams {
  readonly #listeners = new Set<EventListener>();
  readonly #deferredEvents: RuntimeEvent[] = [];
  readonly #clock: TimerClock;
  #deliveryMode: EventDeliveryMode = 'normal';
  #isStalled = false;

  constructor(clock: TimerClock) {
    this.#clock = clock;
  }

  /** Subscribes to events. Returns a function that unsubscribes. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Changes the delivery of future and deferred events. */
  setDeliveryMode(deliveryMode: EventDeliveryMode): void {
    this.#deliveryMode = deliveryMode;
    if (deliveryMode !== 'paused') this.#emitDeferred();
  }

  /** Defers all events while the runtime is stalled. */
  setStalled(isStalled: boolean): void {
    this.#isStalled = isStalled;
    if (!isStalled) this.#emitDeferred();
  }

  /** Drops the deferred events for which `isLost` returns true. */
  dropDeferred(isLost: (event: RuntimeEvent) => boolean): void {
    this.#deferredEvents.splice(
      0,
      this.#deferredEvents.length,
      ...this.#deferredEvents.filter((event) => !isLost(event)),
    );
  }

  emit(event: RuntimeEvent): void {
    if (this.#isStalled || this.#deliveryMode === 'paused') {
      this.#deferredEvents.push(event);
      return;
    }
    const getDelays =
      typeof this.#deliveryMode === 'function' ? this.#deliveryMode : DELIVERY_DELAYS[this.#deliveryMode];
    for (const ms of getDelays(event)) {
      const listeners = [...this.#listeners];
      if (ms > 0) this.#clock.setTimeout(() => this.#deliverTo(event, listeners), ms);
      else this.#deliverTo(event, listeners);
    }
  }

  /** Breaks every open stream. */
  breakAll(error: CallError): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.onBreak(error);
  }

  #emitDeferred(): void {
    for (const event of this.#deferredEvents.splice(0)) this.emit(event);
  }

  /**
   * Delivers an event. Skips listeners that have unsubscribed, because a delayed event is lost when its stream closes.
   */
  #deliverTo(event: RuntimeEvent, listeners: readonly EventListener[]): void {
    for (const listener of listeners) if (this.#listeners.has(listener)) listener.onEvent(event);
  }
}
