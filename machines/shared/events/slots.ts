/** Defines the events between a limiter and the actors that request slots. */

/**
 * The IDs of an actor's ancestors below the root, followed by its own ID. A path replaces an actor reference, which
 * cannot be recorded.
 */
export type ActorPath = readonly string[];

/** A timer has elapsed. `wait` identifies the timer if the actor has several. */
export type TimerEvent = { type: 'timer.elapsed'; wait?: string };

export interface SlotRequest {
  /** Unique key of the request, which starts with the UID of the pod. */
  readonly key: string;
  /** Position of the pod in the order of arrival. All requests of a pod are served before those of later pods. */
  readonly arrivalOrder: number;
  /** The actor that is notified when the slot is granted. */
  readonly holder: ActorPath;
  /** The purpose of the slot in messages about the requests that wait for it, e.g. `the sandbox of default/web`. */
  readonly purpose: string;
  /**
   * The dependency that determines how fast the work proceeds. This is the registry for an image pull, and the pod for
   * a start.
   */
  readonly origin?: string;
  /**
   * The image of a pod. Requests with the same subject are not granted at the same time, because the first one may make
   * the remaining ones unnecessary.
   */
  readonly subject?: string;
}

/** The slot requested under this key has been granted. */
export interface SlotGranted {
  readonly type: 'slot.granted';
  readonly key: string;
  /** Maximum time for which the slot may be held, in milliseconds. Undefined if unlimited. */
  readonly limitMs?: number;
  /** Whether the slot was not free when it was requested. */
  readonly hasWaited?: true;
}

export type LimiterEvent =
  | ({ readonly type: 'slot.request' } & SlotRequest)
  | TimerEvent
  /** Releases a slot or leaves the queue. Ignored if there is no slot or request with this key. */
  | { readonly type: 'slot.release'; readonly key: string }
  /** Releases all slots and requests of a pod whose actor is gone. */
  | { readonly type: 'slot.forget'; readonly uid: string };
