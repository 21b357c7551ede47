/**
 * Explains why a container could not be started, in terms of ContainerStateWaiting (C16). The reason is reported until
 * a start succeeds.
 */

import type { Failure } from '../../base/failure.ts';
import { goDuration } from '../../base/time/duration.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { WaitReason } from '../../kubernetes/status/view.ts';
import type { WaitingReason } from '../shared/views/waitingReason.ts';
import { isRuntimeUnavailable } from '../shared/waiting/failure.ts';

interface WaitingContainer {
  readonly pod: Pod;
  readonly name: string;
  readonly waitingReason?: WaitingReason | undefined;
  readonly crashDelayMs?: number | undefined;
}

const startReason = (reason: WaitReason, message: string): WaitingReason => ({ failedStep: 'start', reason, message });

export const createFailedReason = (context: WaitingContainer, failure: Failure): WaitingReason | undefined => {
  if (isRuntimeUnavailable(failure)) return context.waitingReason;
  const { reason, message } = failure;
  // Report every other failure as a refusal by the runtime to create the container.
  return startReason(reason === 'CreateContainerConfigError' ? reason : 'CreateContainerError', message);
};

export const refusedStartReason = ({ message }: Failure): WaitingReason => startReason('RunContainerError', message);

export const failedPostStartReason = ({ message }: Failure): WaitingReason =>
  startReason('PostStartHookError', message);

/** Whether the last start failed in its postStart hook and is not yet reported as a back-off. */
export const hasFailedPostStart = ({ waitingReason }: WaitingContainer): boolean =>
  waitingReason?.reason === 'PostStartHookError';

/** Whether the last start failed and is not yet reported as a back-off. */
export const hasFailedToStart = (context: WaitingContainer): boolean =>
  context.waitingReason?.reason === 'RunContainerError' || hasFailedPostStart(context);

export function crashLoopReason({ pod, name, crashDelayMs = 0 }: WaitingContainer): WaitingReason {
  const { name: podName, namespace, uid } = pod.metadata;
  const delay = goDuration(crashDelayMs);
  return startReason(
    'CrashLoopBackOff',
    `back-off ${delay} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`,
  );
}
