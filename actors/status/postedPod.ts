/** Combines pods with their statuses, as the status board publishes them. */

import { rfc3339 } from '../../kubernetes/api/rfc3339.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import { type PodRef, podView } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

export interface Posted {
  /** The pod's actor, or the tree to display for a pod that has no actor yet. */
  readonly shown: PodRef | ActorNode;
  readonly pod: Pod;
  readonly view: PodView;
}

export type VisiblePod = Pick<Posted, 'pod' | 'shown'>;

export const visiblePod = (shown: PodRef): VisiblePod => ({ shown, pod: podView(shown).pod });

export const isActor = (shown: PodRef | ActorNode): shown is PodRef => 'getSnapshot' in shown;

/**
 * Whether two views contain the same pod object, apart from the status. If their statuses are also equal, publishing
 * the pod again is unnecessary.
 */
export const isSamePod = (previous: PodView, next: PodView): boolean =>
  previous.pod === next.pod && previous.termination === next.termination;

/** Returns the pod with the status and, if it is being deleted, its deletion timestamp. */
export function withStatus({ pod, termination }: PodView, status: PodStatus): Pod {
  // A terminating pod that stays on the node is only being deleted if its source has deleted it.
  if (termination === undefined || (termination.stays && termination.reason !== 'Deleted')) return { ...pod, status };
  const { at, graceSeconds } = termination;
  const deletion = {
    deletionTimestamp: rfc3339(at + graceSeconds * 1_000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { ...pod, metadata: { ...pod.metadata, ...deletion }, status };
}

export const hasName = ({ metadata }: Pod, name: string, namespace = metadata.namespace): boolean =>
  metadata.name === name && metadata.namespace === namespace;

/**
 * Compares pods in the order of kubectl's lists. Pods with the same name (one waits for the other's removal) are
 * ordered by UID.
 */
export const byNamespaceAndName = ({ metadata: a }: Pod, { metadata: b }: Pod): number => {
  const field = (['namespace', 'name', 'uid'] as const).find((each) => a[each] !== b[each]);
  return field === undefined ? 0 : a[field] < b[field] ? -1 : 1;
};
