/** What a pod's chart tells its author: the kubelet's reasons and messages. */

import type { EventMessage } from '../../pod/events/recordedEvent.ts';
import type { Failure } from '../../pod/failure.ts';
import type { PodEvent } from '../shared/events.ts';
import { isRuntimeAway } from '../shared/failure.ts';
import { DEADLINE_EXCEEDED } from './termination.ts';

const warning = (reason: string, message: string): EventMessage => ({ eventType: 'Warning', reason, message });

/** A failed call, under the reason that it has for a pod's author; while the runtime is away it is the node's problem. */
const failed = (failure: Failure, reason: string, words: string): EventMessage[] =>
  isRuntimeAway(failure) ? [] : [warning(reason, `${words}: ${failure.message}`)];

export const directoryFailed = (failure: Failure): EventMessage[] =>
  failed(failure, 'FailedToMakePodDataDirectories', 'error making pod data directories');

/** A failure that is in the kubelet's words already: of the sandbox, of the cgroup. */
export const asFailed = (failure: Failure): EventMessage[] =>
  isRuntimeAway(failure) ? [] : [warning(failure.reason, failure.message)];

export const sandboxUnreadable = (failure: Failure): EventMessage[] =>
  failed(failure, 'FailedPodSandBoxStatus', 'Unable to get pod sandbox status');

export const killFailed = (failure: Failure): EventMessage[] => failed(failure, 'FailedKillPod', 'error killing pod');

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
