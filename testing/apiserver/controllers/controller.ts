/** A controller of the cluster. */
import type { Json } from '../json.ts';
import type { ResourceName, Store } from '../store/store.ts';

/**
 * Sends a write as the controller. PATCH uses a merge patch. After an error the next change triggers another attempt.
 */
export type Write = (method: string, url: string, body?: Json) => Promise<void>;

export interface Controller {
  readonly user: string;
  /** Changes of these resources trigger `look`. */
  readonly resources: readonly ResourceName[];
  /**
   * Reconciles the objects. Returns the time until the next call in milliseconds, if one is needed without a change.
   */
  readonly reconcile: (store: Store, write: Write) => Promise<number | undefined>;
}
