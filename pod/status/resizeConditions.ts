/** The conditions of a pod whose resources are to change: whether the node takes it on, and how far it is. */

import { rfc3339 } from '../api/rfc3339.ts';
import type { PodCondition } from '../api/schema/status.ts';
import { isPendingResize } from '../resources/resize.ts';
import type { PodView } from '../status/view.ts';

export const RESIZE_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

export function resizeConditions(
  { unadmitted, resizing, containers, ended }: PodView,
  {
    before,
    now,
    observedGeneration,
  }: {
    readonly before: readonly PodCondition[];
    readonly now: number;
    readonly observedGeneration: number | undefined;
  },
): PodCondition[] {
  if (ended) return [];
  const condition = (type: string, { reason, message }: Pick<PodCondition, 'reason' | 'message'>): PodCondition => ({
    type,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    status: 'True',
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    lastTransitionTime: before.find((each) => each.type === type)?.lastTransitionTime ?? rfc3339(now),
  });
  const message = containers.find(({ resizeFailure }) => resizeFailure !== undefined)?.resizeFailure;
  const error = message === undefined ? {} : { reason: 'Error', message };
  return [
    ...(unadmitted && isPendingResize(unadmitted) ? [condition('PodResizePending', unadmitted)] : []),
    ...(resizing ? [condition('PodResizeInProgress', error)] : []),
  ];
}
