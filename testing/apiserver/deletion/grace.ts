/** Graceful deletion (`registry/rest/delete.go` of apiserver, and `registry/core/pod/strategy.go`). */
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { metadataOf, withMetadata } from '../store/metadata.ts';

export type Deletion =
  | { readonly when: 'now' }
  /** The object is being deleted already and does not change. */
  | { readonly when: 'pending' }
  /** The object is to be written with its deletion timestamp. */
  | { readonly when: 'later'; readonly object: JsonObject };

const SECOND_MS = 1000;

/**
 * Returns the next step in the deletion of a pod. `requestedSeconds` is the requested grace period in seconds, if any.
 * An ongoing deletion can only be shortened.
 */
export function gracefulDeletion(pod: JsonObject, requestedSeconds: number | undefined, now: number): Deletion {
  const effectiveSeconds = requestedSeconds !== undefined && requestedSeconds < 0 ? 1 : requestedSeconds;
  const { deletionTimestamp } = metadataOf(pod);
  if (deletionTimestamp !== undefined)
    return shortenDeletion(pod, Date.parse(deletionTimestamp), effectiveSeconds, now);
  const seconds = graceOf(pod, effectiveSeconds);
  const generation = numberAt(objectAt(pod, 'metadata'), 'generation') ?? 0;
  return {
    when: 'later',
    object: withMetadata(pod, {
      deletionTimestamp: rfc3339(now + seconds * SECOND_MS),
      deletionGracePeriodSeconds: seconds,
      ...(generation > 0 ? { generation: generation + 1 } : {}),
    }),
  };
}

function shortenDeletion(pod: JsonObject, due: number, requestedSeconds: number | undefined, now: number): Deletion {
  const had = numberAt(objectAt(pod, 'metadata'), 'deletionGracePeriodSeconds') ?? 0;
  if (had === 0) return { when: 'now' };
  if (requestedSeconds === undefined || requestedSeconds >= had) return { when: 'pending' };
  const at = due - (had - requestedSeconds) * SECOND_MS;
  // An expired grace period is reduced to at most one second.
  const deletionGracePeriodSeconds = at < now ? Math.min(requestedSeconds, 1) : requestedSeconds;
  const deletionTimestamp = rfc3339(Math.max(at, now));
  return { when: 'later', object: withMetadata(pod, { deletionTimestamp, deletionGracePeriodSeconds }) };
}

/** Returns the grace period in seconds. It is 0 for a pod that is not bound to a node or has terminated. */
function graceOf(pod: JsonObject, requestedSeconds: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const isOver = ['Failed', 'Succeeded'].includes(textAt(objectAt(pod, 'status'), 'phase'));
  if (isOver || textAt(spec, 'nodeName') === '') return 0;
  const seconds = requestedSeconds ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return seconds < 0 ? 1 : seconds;
}
