/** Counts the objects of one kind, and groups the missing and unreadable ones by reason. */

import type { ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { ObjectCounts, UnavailableObjects } from '../../machines/node/cluster/objectCounts.ts';
import type { TrackingStep } from './cache/trackedObject.ts';

/**
 * The reason why an object is unavailable, and the time at which it became unavailable, in milliseconds since the
 * epoch.
 */
export interface MissingObject {
  readonly why: string;
  readonly since: number;
}

/** Maximum number of names to list per reason. */
const MAX_NAMES = 3;

interface ObjectState {
  readonly step: TrackingStep;
  /** Null if the object does not exist, undefined if the server has not responded. */
  readonly object: ConfigObject | null | undefined;
  readonly missing?: MissingObject | undefined;
}

/**
 * Returns the problem with an object after a state change, or undefined if there is none. A retry does not clear the
 * previous problem.
 */
export function findMissing({ step, object, missing }: ObjectState, now: number): MissingObject | undefined {
  if (step.state === 'reading' && missing !== undefined) return missing;
  const why =
    step.state === 'failing' ? step.why : object === undefined ? 'unread' : object === null ? 'not found' : '';
  return why === '' ? undefined : { why, since: missing?.since ?? now };
}

export function countObjects(
  objects: readonly { readonly reference: ConfigReference; readonly missing: MissingObject | undefined }[],
  strategy: ObjectCounts['strategy'],
): ObjectCounts {
  const unavailableByReason = new Map<string, UnavailableObjects>();
  const missingObjects = objects.flatMap((object) =>
    object.missing === undefined ? [] : [{ reference: object.reference, ...object.missing }],
  );
  for (const { reference, why: cause, since } of missingObjects.sort((first, second) => first.since - second.since)) {
    const { count, names, ...reason } = unavailableByReason.get(cause) ?? { cause, count: 0, names: [], since };
    const shownNames = names.length < MAX_NAMES ? [...names, formatObjectName(reference)] : names;
    unavailableByReason.set(cause, { ...reason, count: count + 1, names: shownNames });
  }
  return {
    ...(strategy === undefined ? {} : { strategy }),
    objectCount: objects.length,
    unavailableObjects: [...unavailableByReason.values()],
  };
}
