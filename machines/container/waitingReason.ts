/** Why a container could not be started, in the words of a ContainerStateWaiting (C16): shown until a start succeeds. */
import { goDuration } from '../../base/duration.ts';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { WaitReason } from '../../kubernetes/status/view.ts';
import { isRuntimeAway } from '../shared/failure.ts';
import type { WaitingReason } from '../shared/waitingReason.ts';

/** What it is told from: a part of the context of a container. */
interface Waiter {
  readonly pod: Pod;
  readonly name: string;
  readonly waitingReason?: WaitingReason | undefined;
  readonly crashDelayMs?: number | undefined;
}

const startReason = (reason: WaitReason, message: string): WaitingReason => ({ with: 'start', reason, message });

export const createFailed = (context: Waiter, failure: Failure): WaitingReason | undefined => {
  if (isRuntimeAway(failure)) return context.waitingReason;
  const { reason, message } = failure;
  // All else is the runtime's refusal.
  return startReason(reason === 'CreateContainerConfigError' ? reason : 'CreateContainerError', message);
};

export const refusedStart = ({ message }: Failure): WaitingReason => startReason('RunContainerError', message);

export const failedPostStart = ({ message }: Failure): WaitingReason => startReason('PostStartHookError', message);

/** Whether its last start failed by its postStart hook, and this is not told as a back-off yet. */
export const hasFailedPostStart = ({ waitingReason }: Waiter): boolean =>
  waitingReason?.reason === 'PostStartHookError';

/** Whether its last start failed, and this is not told as a back-off yet. */
export const hasFailedToStart = (context: Waiter): boolean =>
  context.waitingReason?.reason === 'RunContainerError' || hasFailedPostStart(context);

export function crashLoopReason({ pod, name, crashDelayMs = 0 }: Waiter): WaitingReason {
  const { name: podName, namespace, uid } = pod.metadata;
  const delay = goDuration(crashDelayMs);
  return startReason(
    'CrashLoopBackOff',
    `back-off ${delay} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`,
  );
}
