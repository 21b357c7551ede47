/** A pod with its status, as it is told. */
import { rfc3339 } from '../../pod/api/rfc3339.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { PodStatus } from '../../pod/api/schema/status.ts';
import type { PodView } from '../../pod/status/view.ts';

/** Whether all of the object but its status is the same: then, with the same status, it need not be told again. */
export const isSamePod = (before: PodView, now: PodView): boolean =>
  before.pod === now.pod && before.termination === now.termination;

/** The pod with this status, and when it is to be gone if it is to go. */
export function withStatus({ pod, termination }: PodView, status: PodStatus): Pod {
  // Of those that stay only what a source deletes is deleted.
  if (termination === undefined || (termination.stays && termination.reason !== 'Deleted')) return { ...pod, status };
  const { at, graceSeconds } = termination;
  const deletion = {
    deletionTimestamp: rfc3339(at + graceSeconds * 1_000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { ...pod, metadata: { ...pod.metadata, ...deletion }, status };
}
