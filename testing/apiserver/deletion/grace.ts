/**
 * When an object goes that is to be deleted: at once, or after a while that it is given (`registry/rest/delete.go` of
 * apiserver, and `registry/core/pod/strategy.go`).
 */
import { rfc3339 } from '../../../kubernetes/api/rfc3339.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { metadataOf, withMetadata } from '../store/metadata.ts';

export type Deletion =
  | { readonly when: 'now' }
  /** It is being deleted, and stays as it is. */
  | { readonly when: 'pending' }
  /** It is to be written with the time at which it has to be gone. */
  | { readonly when: 'later'; readonly object: JsonObject };

const SECOND_MS = 1000;

/**
 * How the deletion of a pod goes on; `asked` is the grace period that a client gives, in seconds, if any. What is being
 * deleted already can only be deleted sooner.
 */
export function gracefulDeletion(pod: JsonObject, asked: number | undefined, now: number): Deletion {
  const given = asked !== undefined && asked < 0 ? 1 : asked;
  const { deletionTimestamp } = metadataOf(pod);
  if (deletionTimestamp !== undefined) return shortened(pod, Date.parse(deletionTimestamp), given, now);
  const seconds = graceOf(pod, given);
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

function shortened(pod: JsonObject, due: number, asked: number | undefined, now: number): Deletion {
  const had = numberAt(objectAt(pod, 'metadata'), 'deletionGracePeriodSeconds') ?? 0;
  if (had === 0) return { when: 'now' };
  if (asked === undefined || asked >= had) return { when: 'pending' };
  const at = due - (had - asked) * SECOND_MS;
  // What is left of a time that is over already is a second.
  const deletionGracePeriodSeconds = at < now ? Math.min(asked, 1) : asked;
  const deletionTimestamp = rfc3339(Math.max(at, now));
  return { when: 'later', object: withMetadata(pod, { deletionTimestamp, deletionGracePeriodSeconds }) };
}

/** In seconds. A pod that runs nowhere needs no time to end. */
function graceOf(pod: JsonObject, asked: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const isOver = ['Failed', 'Succeeded'].includes(textAt(objectAt(pod, 'status'), 'phase'));
  if (isOver || textAt(spec, 'nodeName') === '') return 0;
  const seconds = asked ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return seconds < 0 ? 1 : seconds;
}
