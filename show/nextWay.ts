/** A way out of the state that an actor is in, as those that look at it are told of it. */
export interface NextWay {
  /** Its name in the chart: the state, the event, and which of those that this event has there. */
  readonly way: string;
  /** The event, with its guard: `container.update [changesBackOffKey]`; of a timer `timer.elapsed`. */
  readonly on: string;
  /** The state that it leads to, dotted; absent where it stays. */
  readonly to?: string;
  /** When a timer takes it. */
  readonly at?: number;
}
