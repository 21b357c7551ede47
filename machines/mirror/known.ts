/** What a node keeps of the mirrors of its static pods. */
import type { ObservedMirror } from '../../kubernetes/mirror.ts';
import type { MirrorFacts } from './chart.ts';

export type NamedMirror = MirrorFacts & { readonly namespace: string; readonly name: string };

export interface MirrorsKnown {
  /** Those that the server has. */
  readonly seen: readonly ObservedMirror[];
  /** What the actor of each name was told last, by `NAMESPACE/NAME`. */
  readonly told: Readonly<Record<string, NamedMirror>>;
  /** They are looked after: before that nobody knows what runs here. */
  readonly isKept: boolean;
}

export const noMirrors: MirrorsKnown = { seen: [], told: {}, isKept: false };
