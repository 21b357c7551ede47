/** Decides which statuses of a pod are reported outside the node, and which of them are urgent. */

import { isStaticPod } from '../api/pods/staticPod.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { PodStatus } from '../api/schema/status.ts';
import { isTerminalPhasePending } from './phase.ts';
import { isRepeatingInit, isTransitionIllegal } from './transitions.ts';
import { isUrgentChange } from './urgentChange.ts';
import type { PodView } from './view.ts';

/** A pod with its new status, and the view that the status was computed from. */
interface NewStatus {
  readonly pod: Pod;
  readonly view: PodView;
}

/** The last reported status of a pod. */
interface LastReport {
  readonly status: PodStatus;
  /** Whether the pod has been removed from the node. */
  readonly isGone: boolean;
  /** Whether all containers have stopped and the pod's resources have been released. */
  readonly ended: boolean;
}

/** Whether reporting the new status would contradict the last report. */
export function mustNotReport(
  lastReport: Pick<LastReport, 'status' | 'isGone'> | undefined,
  { pod, view }: NewStatus,
): boolean {
  if (isIncomplete(view)) return true;
  if (view.restoredStatus) return false;
  if (lastReport && !lastReport.isGone)
    return pod.status !== undefined && isTransitionIllegal(pod, lastReport.status, pod.status);
  // An earlier agent may have sent a terminal phase and crashed before the phase was on disk. Until the pod has
  // terminated again, any other phase would contradict the one that was sent.
  return isTerminalPhasePending(view) || isRepeatingInit(view);
}

/**
 * Whether the view contains less information than has already been reported. This applies until the pod's containers
 * are known, and to terminating pods that no source has listed or whose terminal status has already been reported. Like
 * the kubelet, the node does not report the status of such pods, even if a source lists a terminated pod again.
 */
const isIncomplete = ({ isUnsettled, termination }: PodView): boolean =>
  isUnsettled === true || termination?.isUnreported === true;

/** Whether other components act on the change. */
export function isUrgentReport(
  lastReport: Pick<LastReport, 'status' | 'ended'> | undefined,
  { pod: { status = {} }, view }: NewStatus,
): boolean {
  if ((lastReport?.ended ?? false) !== view.isReclaimed) return true;
  // Like the kubelet, send no status before admission, because admission may query the API server.
  if (view.tags.includes('admitting')) return false;
  return isUrgentChange(lastReport?.status, status, view.termination?.reason === 'Deleted');
}

/**
 * Whether the first status of a pod differs from the (possibly older) status at its source only in fields that no
 * component acts on. Always false for a static pod, because its manifest does not contain the mirror pod's status.
 */
export const isDeferrableFirstStatus = ({ pod, view }: NewStatus): boolean =>
  !isStaticPod(pod) && !isUrgentChange(view.pod.status, pod.status ?? {}, false);
