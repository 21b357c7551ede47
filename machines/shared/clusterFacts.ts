/** What the node hears of its cluster beside its pods. */
import type { EventQueueState } from '../node/eventQueue.ts';
import type { SourceState } from '../node/source.ts';

/** A set of objects that the node follows at the API server gets on otherwise than it did; `watch` is what it is shown as. */
type WatchFact = {
  readonly type: 'cluster.watchChanged';
  readonly watch: string;
  readonly state: SourceState;
};

/** Events cannot be sent to the API server, or can again. */
type EventsFact = { readonly type: 'cluster.eventsChanged'; readonly state: EventQueueState };

export type ClusterFact = WatchFact | EventsFact;
