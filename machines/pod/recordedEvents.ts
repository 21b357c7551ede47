/** Builds the events about pods, with the kubelet's reasons and messages. */

import { assertEvent } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import { DEADLINE_EXCEEDED } from '../../kubernetes/status/phase.ts';
import type { PodEvent } from '../shared/events/events.ts';
import { failureEvents } from '../shared/events/failureEvents.ts';

export const directoryFailedEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, 'FailedToMakePodDataDirectories', `error making pod data directories: ${failure.message}`);

/**
 * Returns the event for a failure. The messages of failures of the sandbox and the cgroup already have the kubelet's
 * wording.
 */
export const podFailureEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, failure.reason, failure.message);

export const sandboxUnreadableEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, 'FailedPodSandBoxStatus', `Unable to get pod sandbox status: ${failure.message}`);

export const refusalEvents = ({ reason, message }: Refusal): EventMessage[] => [warning(reason, message)];

/**
 * Records the message of a termination as an event. Only terminations that the node or the cluster initiated have a
 * message. Evictions are skipped, because their annotated event was recorded when the pod was chosen. Host shutdowns
 * are skipped, because they are recorded only on the node.
 */
export const recordTerminationEvent = {
  type: 'recordEvent' as const,
  params: ({ event }: { event: PodEvent }): EventMessage[] => {
    assertEvent(event, 'pod.terminate');
    const { reason, message } = event.termination;
    return message === undefined || reason === 'Evicted' || reason === 'Terminated' ? [] : [warning(reason, message)];
  },
};

/** Records that a preempted or evicted pod takes too long to terminate. */
export const recordExceededGraceEvent = {
  type: 'recordEvent' as const,
  params: warning('ExceededGracePeriod', 'Container runtime did not kill the pod within specified grace period.'),
};

export const recordDeadlineEvent = {
  type: 'recordEvent' as const,
  params: { reason: 'DeadlineExceeded', message: DEADLINE_EXCEEDED },
};

export const recordNewSandboxEvent = {
  type: 'recordEvent' as const,
  params: { reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' },
};
