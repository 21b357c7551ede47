/**
 * Delays changes until the facts that they depend on are durable. The changes of one pod stay in order, but do not wait
 * for those of other pods.
 */

interface ChangeQueue<Change> {
  /**
   * Delivers a change once `until` has settled and all earlier changes of its pod have been delivered. If `until` is
   * undefined and no earlier change is pending, delivers the change immediately.
   */
  push(change: Change, until: Promise<unknown> | undefined): void;
  isQueued(uid: string): boolean;
  /** Returns the undelivered changes, in order for each pod. */
  pending(): readonly Change[];
}

interface PendingChanges<Change> {
  readonly changes: readonly Change[];
  /** Settles when the last change has been delivered. */
  readonly delivered: Promise<void>;
}

export function createChangeQueue<Change extends { readonly uid: string }>(
  deliver: (change: Change) => void,
): ChangeQueue<Change> {
  const pendingByUid = new Map<string, PendingChanges<Change>>();
  const deliverNext = (uid: string) => {
    const entry = pendingByUid.get(uid);
    if (entry === undefined) return;
    const [change, ...changes] = entry.changes;
    if (changes.length === 0) pendingByUid.delete(uid);
    else pendingByUid.set(uid, { ...entry, changes });
    if (change) deliver(change);
  };
  return {
    push: (change, until) => {
      const { uid } = change;
      const earlier = pendingByUid.get(uid);
      if (until === undefined && earlier === undefined) return deliver(change);
      const delivered = Promise.allSettled([earlier?.delivered, until]).then(() => deliverNext(uid));
      pendingByUid.set(uid, { changes: [...(earlier?.changes ?? []), change], delivered });
    },
    isQueued: (uid) => pendingByUid.has(uid),
    pending: () => [...pendingByUid.values()].flatMap(({ changes }) => changes),
  };
}
