/** A pod with its status, as it is told. */

import { rfc3339 } from '../../kubernetes/api/rfc3339.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import { type PodRef, podView } from '../../machines/shared/views.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';

/** A pod as the board has it. */
export interface Posted {
  /** Its actor; or what is shown of a pod that has none yet. */
  readonly shown: PodRef | ActorNode;
  readonly pod: Pod;
  readonly view: PodView;
}

export type Seen = Pick<Posted, 'pod' | 'shown'>;

export const seenOf = (shown: PodRef): Seen => ({ shown, pod: podView(shown).pod });

export const isActor = (shown: PodRef | ActorNode): shown is PodRef => 'getSnapshot' in shown;

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

/** A pod is looked for by its name, and by its namespace if that is known. */
export const isAt = ({ metadata }: Pod, name: string, namespace = metadata.namespace): boolean =>
  metadata.name === name && metadata.namespace === namespace;

/** The order of kubectl's lists; of pods with one name, of which one waits for the other to be gone, that of their UIDs. */
export const byNamespaceAndName = ({ metadata: a }: Pod, { metadata: b }: Pod): number => {
  const field = (['namespace', 'name', 'uid'] as const).find((each) => a[each] !== b[each]);
  return field === undefined ? 0 : a[field] < b[field] ? -1 : 1;
};
