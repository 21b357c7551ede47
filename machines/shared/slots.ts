/** The events that pass between a limiter and those that ask it for slots. */

/** The ids from below the root down to an actor: by them it is answered, a reference could not be written down. */
export type ActorPath = readonly string[];

/** A wait is over; `wait` names it where an actor has several at a time. */
export type TimerEvent = { type: 'timer.elapsed'; wait?: string };

export interface SlotRequest {
  /** Who asks for what: begins with the pod's uid. */
  readonly key: string;
  /** The pod's number in the order of arrival: all of a pod's requests go before those of later pods. */
  readonly ticket: number;
  /** Who is told. */
  readonly holder: ActorPath;
  /** The purpose of the slot in messages to the requests that wait behind it, such as `the sandbox of default/web`. */
  readonly purpose: string;
  /** Who else has to answer for it to be done: the registry of an image, the pod of a start. */
  readonly origin?: string;
  /** What it is about, where whoever is served first may spare others the same: the image of a pod. */
  readonly subject?: string;
}

/** The slot that was asked for under this key is held now. */
export interface SlotGranted {
  readonly type: 'slot.granted';
  readonly key: string;
  /** How long it may be held, in milliseconds; absent: as long as it takes. */
  readonly limitMs?: number;
  /** It was not free when it was asked for. */
  readonly waited?: true;
}

export type LimiterEvent =
  | ({ readonly type: 'slot.request' } & SlotRequest)
  | TimerEvent
  /** Gives a slot back, or leaves the queue. Harmless when neither is the case. */
  | { readonly type: 'slot.release'; readonly key: string }
  /** Gives back whatever the pod with this uid holds or waits for: sent for a pod whose actor is gone. */
  | { readonly type: 'slot.forget'; readonly uid: string };
