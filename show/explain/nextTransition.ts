/** A transition out of the current state of an actor, as sent to observers. */
export interface NextTransition {
  /**
   * Name of the transition in the chart. It consists of the state, the event, and the index among the transitions for
   * this event.
   */
  readonly way: string;
  /** The event with its guard, e.g. `container.update [changesBackOffKey]`. For a timer, `timer.elapsed`. */
  readonly on: string;
  /** Path of the target state, with dots between its levels. Undefined if the transition has no target. */
  readonly to?: string;
  /** Time at which a timer takes the transition. */
  readonly at?: number;
}
