/** Something that acts in a cluster by itself. */
import type { Json } from '../json.ts';
import type { ResourceName, Store } from '../store/store.ts';

/** Writes as a stand-in: a PATCH merges. What is refused is looked at again at the next change. */
export type Write = (method: string, url: string, body?: Json) => Promise<void>;

export interface StandIn {
  readonly user: string;
  /** It looks again upon each change of these. */
  readonly resources: readonly ResourceName[];
  /** Brings what it cares for to where that should be; gives after how many milliseconds it looks again by itself. */
  readonly look: (store: Store, write: Write) => Promise<number | undefined>;
}
