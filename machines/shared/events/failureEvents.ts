/**
 * Builds the events for failed calls. There is no event if the runtime is unavailable, because that is a problem of the
 * node rather than of a pod.
 */

import type { Failure } from '../../../base/failure.ts';
import { type EventMessage, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { isRuntimeUnavailable } from '../waiting/failure.ts';

export const failureEvents = (failure: Failure, reason: string, message: string): EventMessage[] =>
  isRuntimeUnavailable(failure) ? [] : [warning(reason, message)];

/**
 * Returns the `FailedKillPod` event for a container that could not be stopped, or for another resource of the pod that
 * could not be removed.
 */
export const killFailedEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, 'FailedKillPod', `error killing pod: ${failure.message}`);

/** Returns the `FailedSync` event for a runtime that does not report the state of a pod or of one of its containers. */
export const statusUnknownEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, 'FailedSync', `error determining status: ${failure.message}`);
