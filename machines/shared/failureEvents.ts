/** What a pod's author is told of a call that failed; while the runtime is away that is the node's problem. */

import type { Failure } from '../../base/failure.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import { isRuntimeAway } from './failure.ts';

export const failureEvent = (failure: Failure, reason: string, message: string): EventMessage[] =>
  isRuntimeAway(failure) ? [] : [warning(reason, message)];

/** A container could not be stopped, or what else its pod has could not be taken away. */
export const killFailed = (failure: Failure): EventMessage[] =>
  failureEvent(failure, 'FailedKillPod', `error killing pod: ${failure.message}`);

/** The runtime does not say how it is with a pod or a container of it. */
export const statusUnknown = (failure: Failure): EventMessage[] =>
  failureEvent(failure, 'FailedSync', `error determining status: ${failure.message}`);
