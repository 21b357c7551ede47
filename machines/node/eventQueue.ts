/** How events get on that are on their way to the API server: a plain state, told where events have to wait. */
import type { Failure } from '../../pod/failure.ts';
import type { FeedView } from '../../pod/show/actorNode.ts';

export interface EventQueueState {
  /** Since when they go out, or have had to wait, in milliseconds since the epoch. */
  readonly since: number;
  /** How many wait. */
  readonly waiting: number;
  /** How many were dropped, as the queue was full or nobody took them. */
  readonly dropped: number;
  /** When the first of them is tried again, in milliseconds since the epoch; absent while it is. */
  readonly until?: number;
  /** Why the first of them was not taken; absent while they go out. */
  readonly failure?: Failure;
}

export const quietQueue = (since: number): EventQueueState => ({ since, waiting: 0, dropped: 0 });

/** The state after a change; it waits since it began to. */
export function nextQueue(
  before: EventQueueState,
  { now, ...change }: Omit<EventQueueState, 'since' | 'failure'> & { readonly now: number; readonly failure?: string },
): EventQueueState {
  const { failure: message, ...counts } = change;
  const since = (before.failure === undefined) === (message === undefined) ? before.since : now;
  const failure = message === undefined ? {} : { failure: { reason: 'EventNotSent', message, at: now } as const };
  return { since, ...counts, ...failure };
}

/** The state of one whose wait is over, until the event is taken or not: nobody can tell how long that takes. */
export const whileTrying = ({ until: _, ...state }: EventQueueState): EventQueueState => state;

/** The queue as it is shown. */
export function eventQueueView({ since, waiting, dropped, until, failure }: EventQueueState): FeedView {
  const own = { kind: 'event queue', name: 'api', path: 'watches/events', since };
  const facts = [
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'event' : 'events'} to send`] : []),
    ...(dropped > 0 ? [`${dropped} dropped`] : []),
  ];
  if (failure === undefined) return { ...own, state: waiting > 0 ? 'sending' : 'idle', tags: ['steady'], facts };
  const waitingFor = until === undefined ? 'an event to be taken' : 'another attempt to send events';
  return {
    ...{ ...own, state: 'failing', tags: ['retrying'], waitingFor, facts, lastFailure: failure },
    ...(until === undefined ? {} : { until }),
  };
}
