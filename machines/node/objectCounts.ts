/** How the objects get on that the node holds one by one for its pods, all of a kind together. */
import { isoTime } from '../../kubernetes/api/rfc3339.ts';

export interface ObjectCounts {
  /** `configMapAndSecretChangeDetectionStrategy` of a kubelet; absent where there is nothing to choose. */
  readonly strategy?: 'Watch' | 'Cache' | 'Get';
  readonly total: number;
  /** Those that cannot be had or followed, that which is so for longest first. */
  readonly lacking: readonly Lack[];
}

/** Objects that lack for the same reason. */
export interface Lack {
  /** In words: `forbidden`. */
  readonly why: string;
  readonly count: number;
  /** Some of them as they are shown, that which lacks for longest first. */
  readonly names: readonly string[];
  /** Since when the first of them does, in milliseconds since the epoch. */
  readonly since: number;
}

/** As facts of what is shown. */
export function countFacts({ strategy, total, lacking }: ObjectCounts): string[] {
  return [
    `${total} ${total === 1 ? 'object' : 'objects'}`,
    ...(strategy === undefined ? [] : [`strategy ${strategy}`]),
    ...lacking.map(lackText),
  ];
}

/** `3 forbidden since 2026-11-27 13:05:06 UTC (default/a, default/b and 1 more)` */
function lackText({ why, count, names, since }: Lack): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const moment = isoTime(since).slice(0, 19).replace('T', ' ');
  return `${count} ${why} since ${moment} UTC (${names.join(', ')}${more})`;
}
