/**
 * Delays changes until the facts that they depend on are durable. The changes of one pod stay in order, but do not wait
 * for those of other pods.
 */

interface ChangeQueue<Change> {
  /**
   * Delivers a change once `until` has settled and all earlier changes of its pod have been delivered. If `until` is
   * undefined and no earlier change is pending, delivers the change immediately.
   */
  pushChange(change: Change, until: Promise<unknown> | undefined): void;
  hasPending(uid: string): boolean;
  /** Returns the undelivered changes, in order for each pod. */
  pendingChanges(): readonly Change[];
}

interface PendingChanges<Change> {
  readonly changes: readonly Change[];
  /** Settles when the last change has been delivered. */
  readonly deliveryPromise: Promise<void>;
}

export function createChangeQueue<Change extends { readonly uid: string }>(
  deliverChange: (change: Change) => void,
): ChangeQueue<Change> {
  const pendingByUid = new Map<string, PendingChanges<Change>>();
  const deliverNext = (uid: string) => {
    const pendingEntry = pendingByUid.get(uid);
    if (pendingEntry === undefined) return;
    const [change, ...changes] = pendingEntry.changes;
    if (changes.length === 0) pendingByUid.delete(uid);
    else pendingByUid.set(uid, { ...pendingEntry, changes });
    if (change) deliverChange(change);
  };
  return {
    pushChange: (change, until) => {
      const { uid } = change;
      const previousEntry = pendingByUid.get(uid);
      if (until === undefined && previousEntry === undefined) return deliverChange(change);
      const deliveryPromise = Promise.allSettled([previousEntry?.deliveryPromise, until]).then(() => deliverNext(uid));
      pendingByUid.set(uid, { changes: [...(previousEntry?.changes ?? []), change], deliveryPromise });
    },
    hasPending: (uid) => pendingByUid.has(uid),
    pendingChanges: () => [...pendingByUid.values()].flatMap(({ changes }) => changes),
  };
}
