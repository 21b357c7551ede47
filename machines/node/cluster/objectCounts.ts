/** Defines the counts, per kind, of the objects that the node watches or reads individually on behalf of its pods. */
import { isoTime } from '../../../kubernetes/api/values/rfc3339.ts';

export interface ObjectCounts {
  /** The kubelet's `configMapAndSecretChangeDetectionStrategy`. Undefined for objects to which it does not apply. */
  readonly strategy?: 'Watch' | 'Cache' | 'Get';
  readonly objectCount: number;
  /** Objects that cannot be read or watched, grouped by reason, the oldest failure first. */
  readonly unavailableObjects: readonly UnavailableObjects[];
}

/** Objects that cannot be read or watched for the same reason. */
export interface UnavailableObjects {
  /** The reason in one word, e.g. `forbidden`. */
  readonly cause: string;
  readonly count: number;
  /** Some of the objects' names, the oldest failure first. */
  readonly names: readonly string[];
  /** Time of the oldest failure, in milliseconds since the epoch. */
  readonly since: number;
}

export function countFacts({ strategy, objectCount, unavailableObjects }: ObjectCounts): string[] {
  return [
    `${objectCount} ${objectCount === 1 ? 'object' : 'objects'}`,
    ...(strategy === undefined ? [] : [`strategy ${strategy}`]),
    ...unavailableObjects.map(formatUnavailable),
  ];
}

/** Formats unavailable objects, e.g. `3 forbidden since 2026-11-27 13:05:06 UTC (default/a, default/b and 1 more)`. */
function formatUnavailable({ cause, count, names, since }: UnavailableObjects): string {
  const omittedNote = count > names.length ? ` and ${count - names.length} more` : '';
  const timestamp = isoTime(since).slice(0, 19).replace('T', ' ');
  return `${count} ${cause} since ${timestamp} UTC (${names.join(', ')}${omittedNote})`;
}
