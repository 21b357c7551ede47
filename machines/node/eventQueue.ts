/** How events get on that are on their way to the API server: a plain state, told where events have to wait. */
import type { Failure } from '../../base/failure.ts';
import type { FeedView } from '../../show/actors/actorNode.ts';

export interface EventQueueState {
  /** Since when they go out, or have had to wait, in milliseconds since the epoch. */
  readonly since: number;
  /** How many wait. */
  readonly waiting: number;
  /** How many were dropped, as the queue was full or nobody took them. */
  readonly dropped: number;
  /**
   * When the first of them is tried again, or stops giving way to pods at the latest, in milliseconds since the epoch;
   * absent while they go out.
   */
  readonly until?: number;
  /** Why the first of them was not taken; absent while they go out. */
  readonly failure?: Failure;
}

function stateOf({
  waiting,
  until,
  failure,
}: Omit<EventQueueState, 'since' | 'failure'> & { readonly failure?: unknown }) {
  if (failure !== undefined) return 'failing';
  if (until !== undefined) return 'yielding';
  return waiting > 0 ? 'sending' : 'idle';
}

export const quietQueue = (since: number): EventQueueState => ({ since, waiting: 0, dropped: 0 });

/** The state after a change; it waits since it began to. */
export function nextQueue(
  before: EventQueueState,
  { now, ...change }: Omit<EventQueueState, 'since' | 'failure'> & { readonly now: number; readonly failure?: string },
): EventQueueState {
  const { failure: message, ...counts } = change;
  const since = stateOf(before) === stateOf({ ...counts, failure: message }) ? before.since : now;
  const failure = message === undefined ? {} : { failure: { reason: 'EventNotSent', message, at: now } as const };
  return { since, ...counts, ...failure };
}

/** The state of one whose wait is over, until the event is taken or not: nobody can tell how long that takes. */
export const whileTrying = ({ until: _, ...state }: EventQueueState): EventQueueState => state;

/** The queue as it is shown. */
export function eventQueueView(queue: EventQueueState): FeedView {
  const { since, waiting, dropped, until, failure } = queue;
  const own = { kind: 'event queue', name: 'api', path: 'watches/events', state: stateOf(queue), since };
  const facts = [
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'event' : 'events'} to send`] : []),
    ...(dropped > 0 ? [`${dropped} dropped`] : []),
  ];
  const due = until === undefined ? {} : { until };
  if (failure !== undefined) {
    const waitingFor = until === undefined ? 'an event to be taken' : 'another attempt to send events';
    return { ...own, tags: ['retrying'], waitingFor, facts, lastFailure: failure, ...due };
  }
  if (until === undefined) return { ...own, tags: ['steady'], facts };
  return { ...own, tags: ['waiting'], waitingFor: 'pods that wait to be started, which go first', facts, ...due };
}
