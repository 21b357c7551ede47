/** Pods with the statuses that the status board has computed for them. */

import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import { type PodRef, podView } from '../../machines/shared/views/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

/** A pod with its computed status, and the view that the status was computed from. */
export interface ComputedPod {
  /** The pod's actor, or the tree to display for a pod that has no actor yet. */
  readonly shown: PodRef | ActorNode;
  readonly pod: Pod;
  readonly view: PodView;
}

export type VisiblePod = Pick<ComputedPod, 'pod' | 'shown'>;

export const visiblePod = (actorOrTree: PodRef): VisiblePod => ({ shown: actorOrTree, pod: podView(actorOrTree).pod });

export const isPodActor = (shown: PodRef | ActorNode): shown is PodRef => 'getSnapshot' in shown;

/**
 * Whether two views have the same pod and termination. If their statuses are also equal, publishing the pod again is
 * unnecessary.
 */
export const hasSamePodObject = (previous: PodView, next: PodView): boolean =>
  previous.pod === next.pod && previous.termination === next.termination;

/** Returns the pod with the status and, if it is being deleted, its deletion timestamp. */
export function withStatus({ pod, termination }: PodView, status: PodStatus): Pod {
  // A terminating pod that stays on the node is only being deleted if its source has deleted it.
  if (termination === undefined || (termination.staysUntilUnlisted && termination.reason !== 'Deleted'))
    return { ...pod, status };
  const { at, graceSeconds } = termination;
  const deletionFields = {
    deletionTimestamp: rfc3339(at + graceSeconds * 1_000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { ...pod, metadata: { ...pod.metadata, ...deletionFields }, status };
}

export const matchesName = ({ metadata }: Pod, name: string, namespace = metadata.namespace): boolean =>
  metadata.name === name && metadata.namespace === namespace;

/**
 * Compares pods in the order of kubectl's lists. Pods with the same name (one waits for the other's removal) are
 * ordered by UID.
 */
export const byNamespaceAndName = ({ metadata: a }: Pod, { metadata: b }: Pod): number => {
  const differingField = (['namespace', 'name', 'uid'] as const).find((each) => a[each] !== b[each]);
  return differingField === undefined ? 0 : a[differingField] < b[differingField] ? -1 : 1;
};
