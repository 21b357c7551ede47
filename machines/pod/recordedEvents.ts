/** What a pod's chart tells its author: the kubelet's reasons and messages. */

import type { Failure } from '../../base/failure.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import { DEADLINE_EXCEEDED } from '../../kubernetes/status/phase.ts';
import type { PodEvent } from '../shared/events.ts';
import { failureEvent } from '../shared/failureEvents.ts';

export const directoryFailed = (failure: Failure): EventMessage[] =>
  failureEvent(failure, 'FailedToMakePodDataDirectories', `error making pod data directories: ${failure.message}`);

/** A failure that is in the kubelet's words already: of the sandbox, of the cgroup. */
export const asFailed = (failure: Failure): EventMessage[] => failureEvent(failure, failure.reason, failure.message);

export const sandboxUnreadable = (failure: Failure): EventMessage[] =>
  failureEvent(failure, 'FailedPodSandBoxStatus', `Unable to get pod sandbox status: ${failure.message}`);

/** The node does not take it. */
export const refusal = (event: PodEvent): EventMessage[] =>
  event.type === 'admission.refused' ? [warning(event.reason, event.message)] : [];

/** Ends that are not the author's own wish tell why. */
export const recordTerminationEvent = {
  type: 'recordEvent' as const,
  params: ({ event }: { event: PodEvent }): EventMessage[] =>
    event.type === 'pod.terminate' && event.termination.message !== undefined
      ? [warning(event.termination.reason, event.termination.message)]
      : [],
};

/** Those whose end the node itself needs are missed when they take too long. */
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
