/**
 * Defines the state of the queue of events that are to be sent to the API server. The state is reported when events
 * have to wait.
 */
import type { Failure } from '../../../base/failure.ts';
import type { FeedView } from '../../../show/actors/actorNode.ts';

export interface EventQueueState {
  /** Time at which the queue entered its current state, in milliseconds since the epoch. */
  readonly since: number;
  /** Number of waiting events. */
  readonly waitingCount: number;
  /** Number of events dropped because the queue was full or the API server never accepted them. */
  readonly droppedCount: number;
  /**
   * Time of the first event's next retry, in milliseconds since the epoch. While the event yields to pod starts, this
   * is the latest time at which the event is sent. Undefined while events are being sent.
   */
  readonly until?: number;
  /** Reason why the first event was rejected. Undefined while events are being sent. */
  readonly failure?: Failure;
}

function queueState({
  waitingCount,
  until,
  failure,
}: Omit<EventQueueState, 'since' | 'failure'> & { readonly failure?: unknown }) {
  if (failure !== undefined) return 'failing';
  if (until !== undefined) return 'yielding';
  return waitingCount > 0 ? 'sending' : 'idle';
}

export const idleQueue = (since: number): EventQueueState => ({ since, waitingCount: 0, droppedCount: 0 });

/** Returns the state of the queue after a change. `since` changes only with the state itself. */
export function nextQueueState(
  previous: EventQueueState,
  { now, ...change }: Omit<EventQueueState, 'since' | 'failure'> & { readonly now: number; readonly failure?: string },
): EventQueueState {
  const { failure: message, ...counts } = change;
  const since = queueState(previous) === queueState({ ...counts, failure: message }) ? previous.since : now;
  const failure = message === undefined ? {} : { failure: { reason: 'EventNotSent', message, at: now } as const };
  return { since, ...counts, ...failure };
}

/** Returns the state of the queue while an event is being sent. It has no deadline, because the duration is unknown. */
export const sendingState = ({ until: _, ...state }: EventQueueState): EventQueueState => state;

/** Returns the queue as a feed in the actor tree. */
export function eventQueueView(queue: EventQueueState): FeedView {
  const { since, waitingCount, droppedCount, until, failure } = queue;
  const own = { kind: 'event queue', name: 'api', path: 'watches/events', state: queueState(queue), since };
  const facts = [
    ...(waitingCount > 0 ? [`${waitingCount} ${waitingCount === 1 ? 'event' : 'events'} to send`] : []),
    ...(droppedCount > 0 ? [`${droppedCount} dropped`] : []),
  ];
  const due = until === undefined ? {} : { until };
  if (failure !== undefined) {
    const waitingFor = until === undefined ? 'an event to be accepted' : 'another attempt to send events';
    return { ...own, tags: ['retrying'], waitingFor, facts, lastFailure: failure, ...due };
  }
  if (until === undefined) return { ...own, tags: ['steady'], facts };
  return { ...own, tags: ['waiting'], waitingFor: 'pods that are waiting to start, which go first', facts, ...due };
}
