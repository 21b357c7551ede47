/** What a pod's chart tells its author: the kubelet's reasons and messages. */

import type { Note } from '../../pod/events/occurrence.ts';
import type { Failure } from '../../pod/failure.ts';
import type { PodEvent } from '../shared/events.ts';
import { isRuntimeAway } from '../shared/failure.ts';
import { DEADLINE_EXCEEDED } from './context.ts';

const warning = (reason: string, message: string): Note => ({ eventType: 'Warning', reason, message });

/** A failed call, under the reason that it has for a pod's author; while the runtime is away it is the node's trouble. */
const failed = (failure: Failure, reason: string, words: string): Note[] =>
  isRuntimeAway(failure) ? [] : [warning(reason, `${words}: ${failure.message}`)];

export const directoryFailed = (failure: Failure): Note[] =>
  failed(failure, 'FailedToMakePodDataDirectories', 'error making pod data directories');

/** A failure that is in the kubelet's words already: of the sandbox, of the cgroup. */
export const asFailed = (failure: Failure): Note[] =>
  isRuntimeAway(failure) ? [] : [warning(failure.reason, failure.message)];

export const sandboxUnreadable = (failure: Failure): Note[] =>
  failed(failure, 'FailedPodSandBoxStatus', 'Unable to get pod sandbox status');

export const killFailed = (failure: Failure): Note[] => failed(failure, 'FailedKillPod', 'error killing pod');

/** The node does not take it. */
export const refusal = (event: PodEvent): Note[] =>
  event.type === 'admission.refused' ? [warning(event.reason, event.message)] : [];

/** Ends that are not the author's own wish tell why. */
export const tellsTermination = {
  type: 'note' as const,
  params: ({ event }: { event: PodEvent }): Note[] =>
    event.type === 'pod.terminate' && event.termination.message !== undefined
      ? [warning(event.termination.reason, event.termination.message)]
      : [],
};

/** Those whose end the node itself needs are missed when they take too long. */
export const tellsExceededGrace = {
  type: 'note' as const,
  params: warning('ExceededGracePeriod', 'Container runtime did not kill the pod within specified grace period.'),
};

export const tellsDeadline = {
  type: 'note' as const,
  params: { reason: 'DeadlineExceeded', message: DEADLINE_EXCEEDED },
};

export const tellsNewSandbox = {
  type: 'note' as const,
  params: { reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' },
};
