/**
 * Computes the conditions of a pod resize, which report whether the resize is pending and whether it is in progress.
 */

import type { PodCondition } from '../api/schema/status.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import { isPendingResize } from '../resources/resize.ts';
import type { PodView } from './view.ts';

export const RESIZE_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

interface ConditionTimes {
  /** Conditions that were last reported. */
  readonly previousConditions: readonly PodCondition[];
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  readonly observedGeneration: number | undefined;
}

type ResizeVerdict = Pick<PodCondition, 'type' | 'reason' | 'message' | 'observedGeneration'>;

/**
 * Returns the conditions of a resize. Each contains the generation of the pod in which the resize was requested, which
 * may be older than the pod's current generation. An error is reported until the resize has completed
 * (`pkg/kubelet/status/status_manager.go`).
 */
export function resizeConditions(
  view: PodView,
  { previousConditions, now, observedGeneration }: ConditionTimes,
): PodCondition[] {
  const { updateRefusal, pendingGeneration, isResizing, resizeGeneration, resizeFailure, hasEnded } = view;
  if (hasEnded) return [];
  const verdicts: ResizeVerdict[] = [];
  if (updateRefusal && isPendingResize(updateRefusal)) {
    const { reason, message } = updateRefusal;
    const generation = pendingGeneration ?? observedGeneration;
    verdicts.push({ type: 'PodResizePending', reason, message, ...withGeneration(generation) });
  }
  if (isResizing) {
    const generation = resizeGeneration ?? observedGeneration;
    const error = resizeFailure === undefined ? {} : { reason: 'Error', message: resizeFailure };
    verdicts.push({ type: 'PodResizeInProgress', ...error, ...withGeneration(generation) });
  }
  return verdicts.map((verdict) => {
    const previous = previousConditions.find(({ type }) => type === verdict.type);
    return { ...verdict, status: 'True', ...conditionTimes(verdict, previous, rfc3339(now)) };
  });
}

const withGeneration = (observedGeneration: number | undefined) =>
  observedGeneration === undefined ? {} : { observedGeneration };

/**
 * Returns the times of a condition. The transition time changes with the reason. For a resize in progress it also
 * changes with the generation, because the kubelet replaces the condition when it admits another resize. The probe time
 * changes only with the condition, so that an unsuccessful retry does not cause a status update, whereas the kubelet
 * renews it on every sync.
 */
function conditionTimes(
  { type, reason, message, observedGeneration }: ResizeVerdict,
  previous: PodCondition | undefined,
  now: string,
): Pick<PodCondition, 'lastProbeTime' | 'lastTransitionTime'> {
  // An API server may omit an empty reason or message.
  const hasSameReason = previous !== undefined && (previous.reason ?? '') === (reason ?? '');
  const hasSameGeneration = previous?.observedGeneration === observedGeneration;
  const hasChanged = !hasSameReason || !hasSameGeneration || (previous.message ?? '') !== (message ?? '');
  const isTransition = type === 'PodResizeInProgress' ? !hasSameReason || !hasSameGeneration : !hasSameReason;
  return {
    lastProbeTime: hasChanged ? now : (previous.lastProbeTime ?? now),
    lastTransitionTime: isTransition ? now : (previous?.lastTransitionTime ?? now),
  };
}
