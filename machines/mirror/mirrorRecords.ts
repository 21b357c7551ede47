/** Defines the node's data about the mirror pods of its static pods. */
import type { ObservedMirror } from '../../kubernetes/mirror.ts';
import type { MirrorFacts } from './chart.ts';

export type NamedMirror = MirrorFacts & { readonly namespace: string; readonly name: string };

export interface MirrorRecords {
  /** The mirror pods on the API server. */
  readonly observedMirrors: readonly ObservedMirror[];
  /** The facts last sent to the actor of each mirror pod, by `NAMESPACE/NAME`. */
  readonly sentFacts: Readonly<Record<string, NamedMirror>>;
  /** Whether mirror pods are managed. False until the node has determined which pods are running. */
  readonly isManaged: boolean;
}

export const noMirrors: MirrorRecords = { observedMirrors: [], sentFacts: {}, isManaged: false };
