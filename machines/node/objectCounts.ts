/** Defines the number of objects that the node watches or reads individually for its pods, by kind. */
import { isoTime } from '../../kubernetes/api/rfc3339.ts';

export interface ObjectCounts {
  /** The kubelet's `configMapAndSecretChangeDetectionStrategy`. Undefined for objects to which it does not apply. */
  readonly strategy?: 'Watch' | 'Cache' | 'Get';
  readonly total: number;
  /** Objects that cannot be read or watched, grouped by reason, the oldest failure first. */
  readonly lacking: readonly Lack[];
}

/** Objects that cannot be read or watched for the same reason. */
export interface Lack {
  /** The reason in one word, e.g. `forbidden`. */
  readonly why: string;
  readonly count: number;
  /** Some of the objects' names, the oldest failure first. */
  readonly names: readonly string[];
  /** Time of the oldest failure, in milliseconds since the epoch. */
  readonly since: number;
}

export function countFacts({ strategy, total, lacking }: ObjectCounts): string[] {
  return [
    `${total} ${total === 1 ? 'object' : 'objects'}`,
    ...(strategy === undefined ? [] : [`strategy ${strategy}`]),
    ...lacking.map(lackText),
  ];
}

/** Formats missing objects, e.g. `3 forbidden since 2026-11-27 13:05:06 UTC (default/a, default/b and 1 more)`. */
function lackText({ why, count, names, since }: Lack): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const moment = isoTime(since).slice(0, 19).replace('T', ' ');
  return `${count} ${why} since ${moment} UTC (${names.join(', ')}${more})`;
}
