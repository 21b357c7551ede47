/** What the node hears of its cluster beside its pods. */
import type { SourceState } from '../node/source.ts';

/** A set of objects that the node follows at the API server gets on otherwise than it did; `watch` is what it is shown as. */
export type ClusterFact = {
  readonly type: 'cluster.watchChanged';
  readonly watch: string;
  readonly state: SourceState;
};
