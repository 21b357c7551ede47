/** What the node knows of itself in its cluster. */
import type { ClusterFact } from '../shared/clusterFacts.ts';
import type { SourceState } from './source.ts';

export interface ClusterKnowledge {
  /** Its Node in the cluster, once it is registered, and whether its CSINode is there as well. */
  readonly registration?: { readonly uid: string; readonly isInitialized: boolean };
  /** How the sets of objects get on that it follows beside its pods, by what they are shown as. */
  readonly watches: Readonly<Record<string, SourceState>>;
}

/** What the node keeps of a fact about its cluster. */
export function recordedCluster({ watches }: ClusterKnowledge, event: ClusterFact): Partial<ClusterKnowledge> {
  return { watches: { ...watches, [event.watch]: event.state } };
}
