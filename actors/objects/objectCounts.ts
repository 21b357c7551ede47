/** Counts what the node holds of a kind, and what of it lacks. */

import type { ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { Lack, ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { HeldStep } from './cache/heldObject.ts';

/** Why an object cannot be had or followed, and since when, in milliseconds since the epoch. */
export interface Lacking {
  readonly why: string;
  readonly since: number;
}

/** So many are named of each reason. */
const NAMED = 3;

interface Seen {
  readonly step: HeldStep;
  /** Null: there is none, undefined: the server has not said. */
  readonly object: ConfigObject | null | undefined;
  readonly lacking?: Lacking | undefined;
}

/** What an object lacks after a step; undefined for one that is had and followed. While it is tried again it lacks as before. */
export function lackingOf({ step, object, lacking }: Seen, now: number): Lacking | undefined {
  if (step.state === 'reading' && lacking !== undefined) return lacking;
  const why =
    step.state === 'failing' ? step.why : object === undefined ? 'unread' : object === null ? 'not found' : '';
  return why === '' ? undefined : { why, since: lacking?.since ?? now };
}

export function countsOf(
  all: readonly { readonly reference: ConfigReference; readonly lacking: Lacking | undefined }[],
  strategy: ObjectCounts['strategy'],
): ObjectCounts {
  const byReason = new Map<string, Lack>();
  const lacking = all.flatMap(({ reference, lacking: own }) => (own === undefined ? [] : [{ reference, ...own }]));
  for (const { reference, why, since } of lacking.sort((one, other) => one.since - other.since)) {
    const { count, names, ...first } = byReason.get(why) ?? { why, count: 0, names: [], since };
    const shown = names.length < NAMED ? [...names, formatObjectName(reference)] : names;
    byReason.set(why, { ...first, count: count + 1, names: shown });
  }
  return { ...(strategy === undefined ? {} : { strategy }), total: all.length, lacking: [...byReason.values()] };
}
