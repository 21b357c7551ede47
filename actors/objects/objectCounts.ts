/** Counts the objects of a kind and those that are missing or failing. */

import type { ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { Lack, ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { TrackingStep } from './cache/trackedObject.ts';

/** Why an object is missing or cannot be watched, and since when, in milliseconds since the epoch. */
export interface Lacking {
  readonly why: string;
  readonly since: number;
}

/** Maximum number of names to list per reason. */
const MAX_NAMES = 3;

interface ObjectState {
  readonly step: TrackingStep;
  /** Null if the object does not exist, undefined if the server has not responded. */
  readonly object: ConfigObject | null | undefined;
  readonly lacking?: Lacking | undefined;
}

/**
 * Returns what is wrong with an object after a step, or undefined if nothing is. A retry does not clear the previous
 * problem.
 */
export function lackingOf({ step, object, lacking }: ObjectState, now: number): Lacking | undefined {
  if (step.state === 'reading' && lacking !== undefined) return lacking;
  const why =
    step.state === 'failing' ? step.why : object === undefined ? 'unread' : object === null ? 'not found' : '';
  return why === '' ? undefined : { why, since: lacking?.since ?? now };
}

export function countsOf(
  objects: readonly { readonly reference: ConfigReference; readonly lacking: Lacking | undefined }[],
  strategy: ObjectCounts['strategy'],
): ObjectCounts {
  const byReason = new Map<string, Lack>();
  const lacking = objects.flatMap((object) =>
    object.lacking === undefined ? [] : [{ reference: object.reference, ...object.lacking }],
  );
  for (const { reference, why, since } of lacking.sort((first, second) => first.since - second.since)) {
    const { count, names, ...reason } = byReason.get(why) ?? { why, count: 0, names: [], since };
    const shown = names.length < MAX_NAMES ? [...names, formatObjectName(reference)] : names;
    byReason.set(why, { ...reason, count: count + 1, names: shown });
  }
  return { ...(strategy === undefined ? {} : { strategy }), total: objects.length, lacking: [...byReason.values()] };
}
