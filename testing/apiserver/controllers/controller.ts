/** A controller of the cluster. */
import type { Json } from '../json.ts';
import type { ResourceName, Store } from '../store/store.ts';

/**
 * Sends a write as the user of the controller. PATCH sends a merge patch. If a write fails, the next change triggers
 * another attempt.
 */
export type Write = (method: string, url: string, body?: Json) => Promise<void>;

export interface Controller {
  readonly user: string;
  /** The resources whose changes trigger `reconcile`. */
  readonly resources: readonly ResourceName[];
  /**
   * Reconciles the objects. Returns the delay until the next call in milliseconds, or undefined to wait for the next
   * change.
   */
  readonly reconcile: (store: Store, write: Write) => Promise<number | undefined>;
}
